#include "manager_internal.h"

static bool is_suspect(const struct manager *manager, const struct worker *worker)
{
    return manager->config.suspect_after && worker->crashes >= manager->config.suspect_after;
}

/* Count the worker's crashes, and it among the suspects; those that leave are not counted. */
static void set_crashes(struct manager *manager, uint32_t w, uint32_t crashes)
{
    struct worker *worker = &manager->workers[w];
    bool before = is_suspect(manager, worker);
    worker->crashes = crashes;
    bool after = is_suspect(manager, worker);
    if (!worker->leaving && after && !before)
        manager->suspects++;
    if (!worker->leaving && before && !after)
        manager->suspects--;
    if (before && !after && worker->state == HELD)
        assign_idle(manager, w);
}

static uint32_t known_failures(const struct trajectory *trajectory)
{
    return trajectory->failures < FAILURES_KEPT ? trajectory->failures : FAILURES_KEPT;
}

void blame_failure(struct manager *manager, uint32_t t, uint32_t w)
{
    struct trajectory *trajectory = &manager->trajectories[t];
    uint32_t known = known_failures(trajectory), first = trajectory->failed_on[0];
    bool one_worker = true; /* it has failed on `first` alone so far */
    for (uint32_t i = 1; i < known; i++)
        one_worker = one_worker && trajectory->failed_on[i] == first;
    if (!known)
        set_crashes(manager, w, manager->workers[w].crashes + 1);
    else if (one_worker && first != w && manager->workers[first].crashes)
        set_crashes(manager, first, manager->workers[first].crashes - 1);
    trajectory->failed_on[trajectory->failures++ % FAILURES_KEPT] = w;
}

void blame_success(struct manager *manager, uint32_t w)
{
    set_crashes(manager, w, 0);
}

void blame_leaving(struct manager *manager, uint32_t w)
{
    manager->suspects -= is_suspect(manager, &manager->workers[w]);
}

bool blame_holds(const struct manager *manager, uint32_t w)
{
    return is_suspect(manager, &manager->workers[w]) && manager->suspects < manager->active;
}

void blame_review(struct manager *manager)
{
    if (!manager->held || manager->suspects < manager->active)
        return;
    for (uint32_t w = 0; w < manager->config.workers; w++)
        if (manager->workers[w].state == HELD)
            assign_idle(manager, w);
}

/* Whether it failed on this worker, and (`*same_host`) on this or another one of its host. */
static bool failed_there(const struct manager *manager, const struct trajectory *trajectory, uint32_t w, bool *same_host)
{
    bool same_worker = false;
    *same_host = false;
    for (uint32_t i = 0; i < known_failures(trajectory); i++) {
        same_worker = same_worker || trajectory->failed_on[i] == w;
        *same_host = *same_host || manager->workers[trajectory->failed_on[i]].host == manager->workers[w].host;
    }
    return same_worker;
}

/* Stops at the first that may do better; few trajectories fail, and for most of those there is one. */
bool blame_may_take(const struct manager *manager, uint32_t w, uint32_t t)
{
    const struct trajectory *trajectory = &manager->trajectories[t];
    bool same_host, other_host;
    bool same_worker = failed_there(manager, trajectory, w, &same_host);
    if (!same_host)
        return true;
    for (uint32_t x = 0; x < manager->config.workers; x++) {
        const struct worker *other = &manager->workers[x];
        if (other->leaving || other->state == ABSENT || is_suspect(manager, other))
            continue;
        bool tried = failed_there(manager, trajectory, x, &other_host);
        if (same_worker ? !tried : !other_host)
            return false;
    }
    return true;
}
