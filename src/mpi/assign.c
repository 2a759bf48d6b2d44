#include "manager_internal.h"

#include <stdio.h>

/* How much longer than ever before a trajectory may take that is started shortly before the deadline, and how long its last commit. */
static const double CAUTION = 1.5, COMMIT_SECONDS = 2;

/* Say the new state of all units of a trajectory that have not ended. */
static enum status say_units(struct manager *manager, uint32_t t, uint32_t worker, enum manager_unit_state state, const char *reason)
{
    const struct manager_trajectory *given = &manager->config.trajectories[t];
    struct manager_unit unit = {.attempt = manager->trajectories[t].attempt, .worker = worker, .state = state, .reason = reason};
    for (uint32_t i = given->first_unit; i < given->first_unit + given->units; i++) {
        if (manager->halted)
            break;
        unit.row = manager->config.rows[i];
        enum status status = manager->ended[i] ? STATUS_OK : manager->actions.unit(manager->actions.context, &unit);
        if (status)
            return status;
    }
    return STATUS_OK;
}

bool assign_work_left(const struct manager *manager)
{
    return manager->retry != NONE || manager->next < manager->config.trajectory_count;
}

/* Return what the worker is to train; NONE where it must leave all that is left to others. Retries first: they are the longest that is
 * left, and their failure should be known early. */
static uint32_t take_trajectory(struct manager *manager, uint32_t w)
{
    uint32_t before = NONE, t = manager->retry;
    while (t != NONE && !blame_may_take(manager, w, t)) {
        before = t;
        t = manager->trajectories[t].next;
    }
    if (t == NONE)
        return manager->next < manager->config.trajectory_count ? manager->next++ : NONE;
    if (before == NONE)
        manager->retry = manager->trajectories[t].next;
    else
        manager->trajectories[before].next = manager->trajectories[t].next;
    if (manager->last_retry == t)
        manager->last_retry = before;
    return t;
}

static void push_retry(struct manager *manager, uint32_t t)
{
    manager->trajectories[t].next = NONE;
    if (manager->retry == NONE)
        manager->retry = t;
    else
        manager->trajectories[manager->last_retry].next = t;
    manager->last_retry = t;
}

/* Return an idle worker, off the stack; NONE where there is none. */
static uint32_t take_worker(struct manager *manager)
{
    while (manager->idle != NONE) {
        uint32_t w = manager->idle;
        manager->idle = manager->workers[w].next_idle;
        if (manager->workers[w].state == IDLE)
            return w;
    }
    return NONE;
}

void assign_idle(struct manager *manager, uint32_t w)
{
    struct worker *worker = &manager->workers[w];
    manager->held -= worker->state == HELD;
    worker->state = blame_holds(manager, w) ? HELD : IDLE;
    if (worker->state == HELD) {
        manager->held++;
        return;
    }
    worker->next_idle = manager->idle;
    manager->idle = w;
}

/* Take the trajectory from its worker, which is free for another unless it is leaving. */
static void release(struct manager *manager, uint32_t w)
{
    struct worker *worker = &manager->workers[w];
    manager->busy--;
    manager->seconds_done -= worker->seconds;
    worker->seconds = 0;
    if (worker->leaving)
        worker->state = RETIRED;
    else
        assign_idle(manager, w);
}

static enum status hand_over(struct manager *manager, uint32_t t, uint32_t w)
{
    struct wire_message job = {.tag = WIRE_JOB, .trajectory = t, .attempt = manager->trajectories[t].attempt};
    enum status status = say_units(manager, t, w, MANAGER_UNIT_RUNNING, "");
    return status ? status : manager->actions.send(manager->actions.context, w, &job);
}

static enum status start(struct manager *manager, uint32_t t, uint32_t w, double now)
{
    struct trajectory *trajectory = &manager->trajectories[t];
    struct worker *worker = &manager->workers[w];
    trajectory->state = RUNNING;
    trajectory->attempt++;
    worker->state = BUSY;
    worker->trajectory = t;
    worker->attempt = trajectory->attempt;
    worker->accepted = worker->persisted = 0;
    worker->seconds = 0;
    worker->started = now;
    manager->busy++;
    enum status status = hand_over(manager, t, w);
    if (status) { /* nobody trains it, and nobody must wait for this worker's answer */
        release(manager, w);
        trajectory->state = PENDING;
        push_retry(manager, t);
    }
    return status;
}

/* Whether a trajectory that starts now is done before all are told to stop, by the slowest that has finished so far. */
static bool fits(const struct manager *manager, uint32_t t, double now)
{
    double expected = CAUTION * manager->slowest * manager->config.trajectories[t].seconds + COMMIT_SECONDS;
    return manager->slowest > 0 && now + expected <= manager->config.deadline - manager->config.stop_margin;
}

bool assign_too_late(const struct manager *manager, double now)
{
    if (manager->config.deadline <= 0 || now + manager->config.start_margin <= manager->config.deadline)
        return false;
    uint32_t t = manager->retry != NONE ? manager->retry : manager->next;
    return t >= manager->config.trajectory_count || !fits(manager, t, now);
}

enum status assign_hand_out(struct manager *manager, double now)
{
    enum status status = STATUS_OK;
    uint32_t passed_over = NONE; /* list of idle workers that must not try what is left */
    blame_review(manager);
    /* Where it is too late, what runs may go on until the time to stop. */
    while (!status && manager->stage == WORKING && assign_work_left(manager) && !assign_too_late(manager, now)) {
        uint32_t w = take_worker(manager);
        if (w == NONE)
            break;
        uint32_t t = take_trajectory(manager, w);
        if (t != NONE) {
            status = start(manager, t, w, now);
        } else {
            manager->workers[w].next_idle = passed_over;
            passed_over = w;
        }
    }
    for (uint32_t w = passed_over, next; w != NONE; w = next) {
        next = manager->workers[w].next_idle;
        manager->workers[w].next_idle = manager->idle;
        manager->idle = w;
    }
    return status;
}

void assign_retire(struct manager *manager, uint32_t w)
{
    struct worker *worker = &manager->workers[w];
    if (!worker->leaving) {
        blame_leaving(manager, w);
        manager->active--;
    }
    worker->leaving = true;
    manager->held -= worker->state == HELD;
    if (worker->state != BUSY)
        worker->state = RETIRED;
}

/* The worker's trajectory goes back to be tried again, or is given up after too many failures; the worker is free. */
static enum status put_back(struct manager *manager, uint32_t w, bool failed, const char *reason)
{
    uint32_t t = manager->workers[w].trajectory;
    struct trajectory *trajectory = &manager->trajectories[t];
    if (failed)
        blame_failure(manager, t, w);
    release(manager, w);
    if (!failed || trajectory->failures < manager->config.max_attempts) {
        trajectory->state = PENDING;
        push_retry(manager, t);
        return say_units(manager, t, w, MANAGER_UNIT_PENDING, reason);
    }
    trajectory->state = FAILED;
    manager->failed++;
    manager->seconds_done += manager->config.trajectories[t].seconds;
    return say_units(manager, t, w, MANAGER_UNIT_FAILED, reason);
}

static uint32_t first_open_unit(const struct manager *manager, uint32_t t)
{
    const struct manager_trajectory *given = &manager->config.trajectories[t];
    for (uint32_t i = given->first_unit; i < given->first_unit + given->units; i++)
        if (!manager->ended[i])
            return i;
    return NONE;
}

/* One that went on from a saved state took less than it would have from the start; the slowest is what counts. */
static void learn_pace(struct manager *manager, uint32_t w, double now)
{
    const struct worker *worker = &manager->workers[w];
    double expected = manager->config.trajectories[worker->trajectory].seconds, pace = expected > 0 ? (now - worker->started) / expected : 0;
    manager->slowest = pace > manager->slowest ? pace : manager->slowest;
}

enum status assign_finished(struct manager *manager, uint32_t w, uint32_t records, double now)
{
    uint32_t t = manager->workers[w].trajectory, accepted = manager->workers[w].accepted;
    uint32_t open = first_open_unit(manager, t);
    char reason[128];
    if (records != accepted) {
        snprintf(reason, sizeof reason, "finished after %u records, but only %u of them were in order", records, accepted);
        return put_back(manager, w, true, reason);
    }
    if (open != NONE) {
        snprintf(reason, sizeof reason, "finished without the end of unit %u", manager->config.rows[open]);
        return put_back(manager, w, true, reason);
    }
    learn_pace(manager, w, now);
    blame_success(manager, w);
    release(manager, w);
    manager->trajectories[t].state = DONE;
    manager->done++;
    manager->seconds_done += manager->config.trajectories[t].seconds;
    return STATUS_OK;
}

enum status assign_stopped(struct manager *manager, uint32_t w, bool asked)
{
    return put_back(manager, w, !asked, asked ? "" : "stopped without being asked to");
}

enum status assign_failed(struct manager *manager, uint32_t w, const char *reason)
{
    return put_back(manager, w, true, reason);
}
