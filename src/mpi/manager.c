#include "manager_internal.h"

#include "bnsweep/base/hash.h"
#include "bnsweep/base/mem.h"

#include <stdio.h>
#include <string.h>

/* A longer pause between two ticks was ours: the workers' words wait in the queue, and none of them was silent. */
static const double OWN_PAUSE = 5;

/* --- set up --- */

static enum status check_trajectories(const struct manager_config *config)
{
    for (uint32_t i = 0; i < config->trajectory_count; i++) {
        const struct manager_trajectory *trajectory = &config->trajectories[i];
        if (!trajectory->units || trajectory->first_unit > config->unit_count ||
            trajectory->units > config->unit_count - trajectory->first_unit)
            return status_fail(STATUS_INPUT, "trajectory %u has units %u + %u of %u", i, trajectory->first_unit,
                               trajectory->units, config->unit_count);
        const uint32_t *rows = config->rows + trajectory->first_unit;
        for (uint32_t k = 1; k < trajectory->units; k++)
            if (rows[k] <= rows[k - 1])
                return status_fail(STATUS_INPUT, "trajectory %u: row %u after row %u", i, rows[k], rows[k - 1]);
    }
    return STATUS_OK;
}

enum status manager_create(const struct manager_config *config, const struct manager_actions *actions, double now,
                           struct manager **out)
{
    *out = NULL;
    enum status status = check_trajectories(config);
    if (status)
        return status;
    struct manager *manager = mem_array(1, sizeof *manager);
    if (!manager)
        return STATUS_NOMEM;
    manager->config = *config;
    manager->actions = *actions;
    manager->waiting.item_size = sizeof(struct waiting);
    manager->retry = manager->last_retry = manager->idle = NONE;
    manager->active = config->workers;
    manager->ticked = manager->pinged = manager->stage_since = now;
    manager->trajectories = mem_array(config->trajectory_count, sizeof *manager->trajectories);
    manager->workers = mem_array(config->workers, sizeof *manager->workers);
    manager->ended = mem_array(config->unit_count, sizeof *manager->ended);
    if (!manager->trajectories || !manager->workers || !manager->ended) {
        manager_free(manager);
        return STATUS_NOMEM;
    }
    for (uint32_t i = 0; i < config->trajectory_count; i++) {
        manager->trajectories[i].attempt = config->trajectories[i].attempts;
        manager->seconds += config->trajectories[i].seconds;
    }
    for (uint32_t i = 0; i < config->workers; i++)
        manager->workers[i].heard = now;
    *out = manager;
    return STATUS_OK;
}

void manager_free(struct manager *manager)
{
    if (!manager)
        return;
    mem_free(manager->trajectories);
    mem_free(manager->workers);
    mem_free(manager->ended);
    fifo_free(&manager->waiting);
    mem_free(manager);
}

/* --- say --- */

static enum status send_message(struct manager *manager, uint32_t worker, const struct wire_message *message)
{
    return manager->actions.send(manager->actions.context, worker, message);
}

static enum status send_tag(struct manager *manager, uint32_t worker, enum wire_tag tag)
{
    return send_message(manager, worker, &(struct wire_message){.tag = tag});
}

static enum status tell_busy(struct manager *manager, enum wire_tag tag)
{
    enum status first = STATUS_OK;
    for (uint32_t w = 0; w < manager->config.workers; w++) {
        enum status status = manager->workers[w].state == BUSY ? send_tag(manager, w, tag) : STATUS_OK;
        first = first ? first : status;
    }
    return first;
}

static void stop_giving(struct manager *manager, enum stop_cause cause, double now)
{
    manager->stage = DRAINING;
    manager->cause = cause;
    manager->stage_since = now;
}

static enum status begin_drain(struct manager *manager, enum stop_cause cause, double now)
{
    if (manager->stage != WORKING)
        return STATUS_OK;
    stop_giving(manager, cause, now);
    return tell_busy(manager, WIRE_DRAIN);
}

static enum status say_quit(struct manager *manager, double now)
{
    manager->stage = QUITTING;
    manager->stage_since = now;
    enum status first = STATUS_OK;
    for (uint32_t w = 0; w < manager->config.workers; w++) {
        bool listens = manager->workers[w].state != GONE && manager->workers[w].state != LOST;
        enum status status = listens ? send_tag(manager, w, WIRE_QUIT) : STATUS_OK;
        first = first ? first : status;
    }
    return first;
}

/* After each event: hand out what can be, and see whether this was the end. */
static enum status settle(struct manager *manager, double now)
{
    enum status status = assign_hand_out(manager, now);
    if (status)
        return status;
    bool late = assign_too_late(manager, now);
    if (manager->stage == WORKING && (!manager->active || (late && !manager->busy)))
        status = begin_drain(manager, manager->active ? TOO_LATE : NO_WORKER, now);
    bool waits = manager->busy || (manager->waiting.count && !manager->halted) ||
                 (manager->stage == WORKING && assign_work_left(manager));
    if (!status && manager->stage < QUITTING && !waits)
        status = say_quit(manager, now);
    if (manager->stage == QUITTING && manager->gone + manager->lost == manager->config.workers)
        manager->stage = OVER;
    return status;
}

/* --- take in --- */

static void take_progress(struct manager *manager, uint32_t w, const struct wire_message *message)
{
    struct worker *worker = &manager->workers[w];
    double part = message->steps ? (double)message->step / (double)message->steps : 0;
    double seconds = (part > 1 ? 1 : part) * manager->config.trajectories[worker->trajectory].seconds;
    manager->seconds_done += seconds - worker->seconds;
    worker->seconds = seconds;
}

static void take_hello(struct manager *manager, uint32_t w, const char *host)
{
    if (manager->workers[w].state != ABSENT)
        return;
    manager->present++;
    manager->workers[w].host = hash_checksum(host, strlen(host), 0);
    assign_idle(manager, w);
}

/* The end of an attempt counts only from the worker that holds it. */
static enum status take_end(struct manager *manager, uint32_t w, const struct wire_message *message, double now)
{
    if (!worker_holds(&manager->workers[w], message))
        return STATUS_OK;
    if (message->tag == WIRE_FINISHED)
        return assign_finished(manager, w, message->number, now);
    if (message->tag == WIRE_FAILED)
        return assign_failed(manager, w, message->text);
    return assign_stopped(manager, w, manager->stage != WORKING || manager->workers[w].leaving);
}

static enum status take_message(struct manager *manager, uint32_t w, const struct wire_message *message, double now)
{
    switch (message->tag) {
    case WIRE_HELLO:
        take_hello(manager, w, message->text);
        return STATUS_OK;
    case WIRE_RECORD:
        return receipt_record(manager, w, message);
    case WIRE_PROGRESS:
        if (worker_holds(&manager->workers[w], message))
            take_progress(manager, w, message);
        return STATUS_OK;
    case WIRE_FINISHED:
    case WIRE_STOPPED:
    case WIRE_FAILED:
        return take_end(manager, w, message, now);
    case WIRE_LEAVING:
        assign_retire(manager, w);
        return STATUS_OK;
    case WIRE_ALIVE:
        return STATUS_OK;
    default:
        return status_fail(STATUS_CORRUPT, "worker %u sent the manager a %s message", w, wire_name(message->tag));
    }
}

static enum status lose(struct manager *manager, uint32_t w, const char *reason)
{
    struct worker *worker = &manager->workers[w];
    if (worker->state == LOST || worker->state == GONE)
        return STATUS_OK;
    bool present = worker->state != ABSENT;
    assign_retire(manager, w);
    enum status status = worker->state == BUSY ? assign_failed(manager, w, reason) : STATUS_OK;
    manager->present -= present;
    manager->lost++;
    worker->state = LOST;
    return status;
}

/* A goodbye makes good for having been given up; one that comes unasked does not lose the trajectory. */
static enum status take_bye(struct manager *manager, uint32_t w)
{
    enum status status = lose(manager, w, "the worker left");
    manager->lost--;
    manager->gone++;
    manager->workers[w].state = GONE;
    return status;
}

enum status manager_message(struct manager *manager, uint32_t w, const struct wire_message *message, double now)
{
    if (w >= manager->config.workers)
        return status_fail(STATUS_CORRUPT, "a message of worker %u, there are %u", w, manager->config.workers);
    struct worker *worker = &manager->workers[w];
    worker->heard = now;
    if (worker->state == GONE)
        return STATUS_OK;
    enum status status = STATUS_OK;
    if (message->tag == WIRE_BYE)
        status = take_bye(manager, w);
    else if (worker->state == LOST) /* back too late: its work was given to others */
        status = send_tag(manager, w, WIRE_QUIT);
    else
        status = take_message(manager, w, message, now);
    return status ? status : settle(manager, now);
}

enum status manager_lost(struct manager *manager, uint32_t worker, const char *reason, double now)
{
    enum status status = lose(manager, worker, reason);
    return status ? status : settle(manager, now);
}

/* --- acknowledge --- */

enum status manager_persisted(struct manager *manager, uint64_t serial, double now)
{
    if (manager->halted)
        return STATUS_OK;
    if (serial > manager->serial)
        return status_fail(STATUS_INTERNAL, "record %llu is on disk, but %llu were written", (unsigned long long)serial,
                           (unsigned long long)manager->serial);
    if (serial > manager->persisted)
        manager->persisted = serial;
    enum status status = receipt_acknowledge(manager);
    return status ? status : settle(manager, now);
}

uint64_t manager_serial(const struct manager *manager)
{
    return manager->serial;
}

/* --- stop, time --- */

enum status manager_drain(struct manager *manager, double now)
{
    enum status status = begin_drain(manager, ASKED, now);
    return status ? status : settle(manager, now);
}

enum status manager_halt(struct manager *manager, double now)
{
    manager->halted = true;
    if (manager->stage == WORKING)
        stop_giving(manager, ASKED, now);
    enum status told = tell_busy(manager, WIRE_HALT), status = settle(manager, now);
    return told ? told : status;
}

static enum status look_for_silence(struct manager *manager, double now)
{
    bool slow = manager->config.drain_seconds > 0 && manager->stage >= DRAINING &&
                now - manager->stage_since > manager->config.drain_seconds;
    for (uint32_t w = 0; w < manager->config.workers; w++) {
        struct worker *worker = &manager->workers[w];
        double silence = now - worker->heard;
        char reason[96];
        if (worker->state == LOST || worker->state == GONE)
            continue;
        if (manager->config.silent_seconds > 0 && silence > manager->config.silent_seconds)
            snprintf(reason, sizeof reason, "the worker said nothing for %.0f s", silence);
        else if (slow && (worker->state == BUSY || manager->stage == QUITTING))
            snprintf(reason, sizeof reason, "the worker did not stop within %.0f s", manager->config.drain_seconds);
        else
            continue;
        manager->actions.given_up(manager->actions.context, w, reason);
        enum status status = lose(manager, w, reason);
        if (status)
            return status;
    }
    return STATUS_OK;
}

static enum status ping(struct manager *manager, double now)
{
    enum status status = STATUS_OK;
    manager->pinged = now;
    for (uint32_t w = 0; w < manager->config.workers && !status; w++)
        if (manager->workers[w].state != GONE && manager->workers[w].state != LOST)
            status = send_tag(manager, w, WIRE_PING);
    return status;
}

enum status manager_tick(struct manager *manager, double now)
{
    double pause = now - manager->ticked;
    manager->ticked = now;
    if (pause > OWN_PAUSE)
        for (uint32_t w = 0; w < manager->config.workers; w++)
            manager->workers[w].heard += pause;
    enum status status = STATUS_OK;
    if (now - manager->pinged >= manager->config.ping_seconds) {
        status = ping(manager, now);
        if (!status)
            status = look_for_silence(manager, now);
    }
    double deadline = manager->config.deadline;
    if (!status && deadline > 0 && now + manager->config.stop_margin >= deadline)
        status = begin_drain(manager, TOO_LATE, now);
    return status ? status : settle(manager, now);
}

/* --- ask --- */

bool manager_over(const struct manager *manager)
{
    return manager->stage == OVER;
}

bool manager_draining(const struct manager *manager)
{
    return manager->stage != WORKING;
}

bool manager_is_held(const struct manager *manager, uint32_t worker)
{
    return worker < manager->config.workers && manager->workers[worker].state == HELD;
}

uint32_t manager_lost_count(const struct manager *manager)
{
    return manager->lost;
}

enum status manager_result(const struct manager *manager)
{
    static const char *const causes[] = {[ASKED] = "stopped", [TOO_LATE] = "stopped before the deadline",
                                         [NO_WORKER] = "stopped because no worker was left"};
    uint32_t open = manager->config.trajectory_count - manager->done - manager->failed;
    if (open)
        return status_fail(STATUS_INCOMPLETE, "%s with %u of %u trajectories not finished; run again to go on", causes[manager->cause],
                           open, manager->config.trajectory_count);
    if (manager->failed)
        return status_fail(STATUS_FAILED, "%u of %u trajectories failed", manager->failed, manager->config.trajectory_count);
    return STATUS_OK;
}

void manager_get_progress(const struct manager *manager, struct manager_progress *out)
{
    *out = (struct manager_progress){
        .trajectories = manager->config.trajectory_count, .done = manager->done, .failed = manager->failed,
        .running = manager->busy, .units = manager->config.unit_count, .units_ended = manager->ended_count,
        .workers = manager->present, .busy = manager->busy, .held = manager->held, .records = manager->records,
        .seconds = manager->seconds, .seconds_done = manager->seconds_done};
}
