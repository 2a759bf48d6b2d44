#include "manager_internal.h"

#include "bnsweep/measure/record.h"

static enum status send_ack(struct manager *manager, uint32_t worker, uint32_t trajectory, uint32_t attempt, uint32_t number)
{
    struct wire_message ack = {.tag = WIRE_ACK, .trajectory = trajectory, .attempt = attempt, .number = number};
    return manager->actions.send(manager->actions.context, worker, &ack);
}

/* Return the unit of `row` in the trajectory; NONE where it is another's. */
static uint32_t find_unit(const struct manager *manager, uint32_t t, uint32_t row)
{
    uint32_t low = manager->config.trajectories[t].first_unit, high = low + manager->config.trajectories[t].units;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (manager->config.rows[middle] == row)
            return middle;
        if (manager->config.rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return NONE;
}

/* A record that does not fit (a gap, another's row) is not counted, and the attempt's end will then not be believed. */
enum status receipt_record(struct manager *manager, uint32_t w, const struct wire_message *record)
{
    struct worker *worker = &manager->workers[w];
    if (manager->halted)
        return STATUS_OK;
    if (!worker_holds(worker, record)) /* of an attempt that was given up: another brings it again */
        return send_ack(manager, w, record->trajectory, record->attempt, record->number);
    if (record->number <= worker->accepted)
        return record->number > worker->persisted ? STATUS_OK
                                                  : send_ack(manager, w, worker->trajectory, worker->attempt, worker->persisted);
    uint32_t unit = find_unit(manager, record->trajectory, record->row);
    if (record->number != worker->accepted + 1 || unit == NONE || !record->size)
        return STATUS_OK;
    struct waiting waiting = {manager->serial, w, record->trajectory, record->attempt, record->number};
    bool wanted = !manager->ended[unit]; /* else an earlier attempt had already completed this unit */
    waiting.serial += wanted;
    enum status status = fifo_push(&manager->waiting, &waiting);
    if (status)
        return status;
    worker->accepted++;
    manager->records++;
    if (!wanted)
        return waiting.serial <= manager->persisted ? receipt_acknowledge(manager) : STATUS_OK;
    manager->serial++;
    if (record_is_end(record->bytes, record->size)) {
        manager->ended[unit] = true;
        manager->ended_count++;
    }
    return manager->actions.persist(manager->actions.context, record);
}

/* Note the newest number of each worker that has something on disk; return the list of these workers. An attempt's end may lie
 * between two records, then the first one's acknowledgement goes out at once. */
static enum status collect(struct manager *manager, uint32_t *list)
{
    struct waiting *front;
    while ((front = fifo_at(&manager->waiting, 0)) && front->serial <= manager->persisted) {
        struct worker *worker = &manager->workers[front->worker];
        enum status status = STATUS_OK;
        if (!worker->told) {
            worker->told = true;
            worker->next_told = *list;
            *list = front->worker;
        } else if (worker->ack_trajectory != front->trajectory || worker->ack_attempt != front->attempt) {
            status = send_ack(manager, front->worker, worker->ack_trajectory, worker->ack_attempt, worker->ack_number);
        }
        worker->ack_trajectory = front->trajectory;
        worker->ack_attempt = front->attempt;
        worker->ack_number = front->number;
        if (worker->trajectory == front->trajectory && worker->attempt == front->attempt)
            worker->persisted = front->number;
        fifo_pop(&manager->waiting);
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status receipt_acknowledge(struct manager *manager)
{
    uint32_t list = NONE;
    enum status status = collect(manager, &list);
    while (list != NONE) {
        struct worker *worker = &manager->workers[list];
        worker->told = false;
        if (!status && worker->state != LOST && worker->state != GONE)
            status = send_ack(manager, list, worker->ack_trajectory, worker->ack_attempt, worker->ack_number);
        list = worker->next_told;
    }
    return status;
}
