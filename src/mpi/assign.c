#include "manager_internal.h"

#include <stdio.h>

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

/* Retries first: they are the longest that is left, and their failure should be known early. */
static uint32_t take_trajectory(struct manager *manager)
{
    uint32_t t = manager->retry;
    if (t == NONE)
        return manager->next++;
    manager->retry = manager->trajectories[t].next;
    if (manager->retry == NONE)
        manager->last_retry = NONE;
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
    manager->workers[w].state = IDLE;
    manager->workers[w].next_idle = manager->idle;
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

static enum status start(struct manager *manager, uint32_t t, uint32_t w)
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
    manager->busy++;
    enum status status = hand_over(manager, t, w);
    if (status) { /* nobody trains it, and nobody must wait for this worker's answer */
        release(manager, w);
        trajectory->state = PENDING;
        push_retry(manager, t);
    }
    return status;
}

bool assign_too_late(const struct manager *manager, double now)
{
    return manager->config.deadline > 0 && now + manager->config.start_margin > manager->config.deadline;
}

enum status assign_hand_out(struct manager *manager, double now)
{
    if (assign_too_late(manager, now))
        return STATUS_OK; /* what runs may go on until the time to stop */
    while (manager->stage == WORKING && assign_work_left(manager)) {
        uint32_t w = take_worker(manager);
        if (w == NONE)
            return STATUS_OK;
        enum status status = start(manager, take_trajectory(manager), w);
        if (status)
            return status;
    }
    return STATUS_OK;
}

void assign_retire(struct manager *manager, uint32_t w)
{
    struct worker *worker = &manager->workers[w];
    if (!worker->leaving)
        manager->active--;
    worker->leaving = true;
    if (worker->state != BUSY)
        worker->state = RETIRED;
}

/* The trajectory goes back to be tried again, or is given up after too many failures. */
static enum status put_back(struct manager *manager, uint32_t t, uint32_t w, bool failed, const char *reason)
{
    struct trajectory *trajectory = &manager->trajectories[t];
    if (failed)
        trajectory->failures++;
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

enum status assign_finished(struct manager *manager, uint32_t w, uint32_t records)
{
    uint32_t t = manager->workers[w].trajectory, accepted = manager->workers[w].accepted;
    uint32_t open = first_open_unit(manager, t);
    release(manager, w);
    char reason[128];
    if (records != accepted) {
        snprintf(reason, sizeof reason, "finished after %u records, but only %u of them were in order", records, accepted);
        return put_back(manager, t, w, true, reason);
    }
    if (open != NONE) {
        snprintf(reason, sizeof reason, "finished without the end of unit %u", manager->config.rows[open]);
        return put_back(manager, t, w, true, reason);
    }
    manager->trajectories[t].state = DONE;
    manager->done++;
    manager->seconds_done += manager->config.trajectories[t].seconds;
    return STATUS_OK;
}

enum status assign_stopped(struct manager *manager, uint32_t w, bool asked)
{
    uint32_t t = manager->workers[w].trajectory;
    release(manager, w);
    return put_back(manager, t, w, !asked, asked ? "" : "stopped without being asked to");
}

enum status assign_failed(struct manager *manager, uint32_t w, const char *reason)
{
    uint32_t t = manager->workers[w].trajectory;
    release(manager, w);
    return put_back(manager, t, w, true, reason);
}
