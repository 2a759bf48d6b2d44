#include "bnsweep/sweep/grouping.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/identity.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

double grouping_work(const struct settings *settings)
{
    double image = 0;
    int64_t side = settings->image, from = settings->image_channels;
    for (int64_t i = 0; i < settings->channels.count; i++) {
        int64_t to = settings->channels.values[i];
        image += 9.0 * (double)from * (double)to * (double)side * (double)side;
        from = to;
        side /= 2;
    }
    return image * (double)settings->batch * (double)settings->steps;
}

/* One given unit; `leader` is the position of the first unit of its trajectory. */
struct member {
    struct hash trajectory;
    double work;
    size_t unit, position, leader;
};

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_trajectory(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->trajectory.high != y->trajectory.high)
        return x->trajectory.high < y->trajectory.high ? -1 : 1;
    if (x->trajectory.low != y->trajectory.low)
        return x->trajectory.low < y->trajectory.low ? -1 : 1;
    return compare_sizes(x->position, y->position);
}

static int by_work(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return x->leader != y->leader ? compare_sizes(x->leader, y->leader) : compare_sizes(x->position, y->position);
}

/* `*momenta` is whether units that may share a trajectory have different momenta; if not, being different units, none do share. */
static enum status read_members(const struct sweep *sweep, const size_t *units, size_t count, struct member *members, bool *momenta)
{
    double momentum = NAN;
    *momenta = false;
    for (size_t i = 0; i < count; i++) {
        struct settings settings;
        enum status status = sweep_unit(sweep, units[i], &settings, NULL);
        if (status)
            return status;
        members[i] = (struct member){.work = grouping_work(&settings), .unit = units[i], .position = i, .leader = i};
        if (!identity_fusable(&settings))
            continue;
        *momenta = *momenta || (!isnan(momentum) && settings.bn_momentum != momentum);
        momentum = settings.bn_momentum;
    }
    return STATUS_OK;
}

static void find_trajectories(const struct sweep *sweep, size_t count, struct member *members)
{
    for (size_t i = 0; i < count; i++) {
        struct settings settings;
        sweep_unit(sweep, members[i].unit, &settings, NULL);
        members[i].trajectory = identity_trajectory(&settings);
    }
}

/* A trajectory with more than `most` units becomes several, each with its own leader. */
static void find_leaders(struct member *members, size_t count, size_t most)
{
    qsort(members, count, sizeof *members, by_trajectory);
    for (size_t i = 1, size = 1; i < count; i++) {
        size = size < most && hash_equal(members[i].trajectory, members[i - 1].trajectory) ? size + 1 : 1;
        if (size > 1)
            members[i].leader = members[i - 1].leader;
    }
}

enum status grouping_make(const struct sweep *sweep, const size_t *units, size_t count, size_t most, struct grouping *out)
{
    *out = (struct grouping){0};
    struct member *members = mem_array(count, sizeof *members);
    out->units = mem_array(count, sizeof *out->units);
    out->starts = mem_array(count + 1, sizeof *out->starts);
    out->work = mem_array(count, sizeof *out->work);
    bool momenta = false;
    enum status status = members && out->units && out->starts && out->work ? STATUS_OK : STATUS_NOMEM;
    if (!status)
        status = read_members(sweep, units, count, members, &momenta);
    if (!status && momenta && most > 1) {
        find_trajectories(sweep, count, members);
        find_leaders(members, count, most);
    }
    if (!status)
        qsort(members, count, sizeof *members, by_work);
    for (size_t i = 0; !status && i < count; i++) {
        out->units[i] = members[i].unit;
        if (i == 0 || members[i].leader != members[i - 1].leader) {
            out->work[out->count] = members[i].work;
            out->starts[out->count++] = i;
        }
        out->starts[out->count] = i + 1;
    }
    mem_free(members);
    return status;
}

void grouping_free(struct grouping *grouping)
{
    mem_free(grouping->units);
    mem_free(grouping->starts);
    mem_free(grouping->work);
    *grouping = (struct grouping){0};
}
