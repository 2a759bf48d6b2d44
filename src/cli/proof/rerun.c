#include "rerun.h"

#include "recheck.h"
#include "origin/files.h"
#include "origin/kin.h"

#include "bnsweep/base/log.h"
#include "bnsweep/base/mem.h"
#include "bnsweep/core/engine.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/sweep/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A done unit's place in the draw. */
struct lot {
    struct hash key;
    size_t row;
};

static int compare_hashes(struct hash a, struct hash b)
{
    return a.high != b.high ? (a.high < b.high ? -1 : 1) : (a.low > b.low) - (a.low < b.low);
}

static int by_key(const void *a, const void *b)
{
    return compare_hashes(((const struct lot *)a)->key, ((const struct lot *)b)->key);
}

static int by_trajectory(const void *a, const void *b)
{
    const struct rerun_unit *x = a, *y = b;
    int order = compare_hashes(x->trajectory, y->trajectory);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Draw the rows: each done row's lot is the hash of seed and row. */
static enum status draw(struct rerun *rerun, size_t count, uint64_t seed)
{
    struct lot *lots = mem_array(rerun->frame.rows, sizeof *lots);
    if (!lots)
        return STATUS_NOMEM;
    for (size_t row = 0; row < rerun->frame.rows; row++) {
        const uint64_t key[2] = {seed, row};
        if (rerun->frame.status[row] == UNIT_DONE)
            lots[rerun->done++] = (struct lot){hash_bytes(key, sizeof key), row};
    }
    if (rerun->done)
        qsort(lots, rerun->done, sizeof *lots, by_key);
    rerun->count = count < rerun->done ? count : rerun->done;
    rerun->units = mem_array(rerun->count, sizeof *rerun->units);
    for (size_t i = 0; rerun->units && i < rerun->count; i++)
        rerun->units[i].row = lots[i].row;
    mem_free(lots);
    return rerun->units ? STATUS_OK : STATUS_NOMEM;
}

static enum status read_units(struct rerun *rerun)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i < rerun->count; i++) {
        struct rerun_unit *unit = &rerun->units[i];
        status = frame_settings(&rerun->frame, unit->row, &unit->settings);
        if (!status)
            status = status_context(identity_verify_files(&unit->settings), "unit %zu", unit->row);
        unit->trajectory = identity_trajectory(&unit->settings);
    }
    if (!status && rerun->count)
        qsort(rerun->units, rerun->count, sizeof *rerun->units, by_trajectory);
    return status;
}

enum status rerun_choose(const char *path, size_t count, uint64_t seed, struct rerun *out)
{
    bool same_blas = true;
    const struct engine *engine = NULL;
    enum status status = frame_open(path, &out->frame);
    if (!status)
        status = status_context(kin_check(out->frame.reader), "%s cannot be trained again here", path);
    if (!status)
        status = engine_choose(&engine);
    if (!status && engine == &engine_reference)
        status = kin_same_blas(out->frame.reader, &same_blas);
    out->other_blas = !same_blas;
    if (!status)
        status = draw(out, count, seed);
    return status ? status : read_units(out);
}

void rerun_free(struct rerun *rerun)
{
    frame_close(&rerun->frame);
    mem_free(rerun->units);
    *rerun = (struct rerun){0};
}

/* Train units [first, first + count), which share a trajectory, and hold every value against the store. */
static enum status train_group(const struct rerun *rerun, size_t first, size_t count, const struct proof_listener *listener,
                               struct rerun_report *report)
{
    const struct rerun_unit *units = rerun->units + first;
    const struct settings *settings = &units[0].settings;
    struct recheck recheck = {.frame = &rerun->frame, .count = count};
    struct files files = {0};
    struct trajectory_config config;
    struct trajectory *trajectory = NULL;
    double momenta[TRAJECTORY_MAX_MOMENTA];
    for (size_t i = 0; i < count; i++) {
        recheck.rows[i] = units[i].row;
        momenta[i] = units[i].settings.bn_momentum;
    }
    enum status status = files_read(settings, &files);
    if (!status)
        status = recheck_create(&recheck);
    if (!status)
        status = configure_trajectory(settings, count, momenta, &files.view, &config);
    struct trajectory_sink sink = {&recheck, recheck_values};
    if (!status)
        status = trajectory_create(&trajectory, &config, &sink);
    while (!status && trajectory->step < config.plan.steps)
        status = trajectory_step(trajectory);
    if (!status || status == STATUS_DIVERGED)
        status = recheck_end(&recheck, trajectory, settings, status == STATUS_DIVERGED);
    if (!status)
        recheck_report(&recheck, listener, report);
    trajectory_free(trajectory);
    recheck_free(&recheck);
    files_free(&files);
    return status;
}

/* A setting that was changed in the store is not the one the unit was trained with. */
static enum status check_identity(const struct rerun *rerun, const struct rerun_unit *unit, const struct proof_listener *listener,
                                  struct rerun_report *report)
{
    char hex[HASH_HEX_SIZE], *stored = NULL, text[512];
    enum status status = reader_texts(rerun->frame.reader, layout_columns_table[COLUMN_identity].name, unit->row, 1, &stored);
    hash_hex(identity_of(&unit->settings), hex);
    if (!status && strcmp(hex, stored) != 0) {
        snprintf(text, sizeof text, "unit %zu (%s): its settings have the identity %s, it is stored as %s", unit->row,
                 frame_text(&rerun->frame.arm, unit->row), hex, stored);
        listener->find(listener->context, PROOF_ERROR, text);
        report->errors++;
    }
    mem_free(stored);
    return status;
}

enum status rerun_train(const struct rerun *rerun, const struct proof_listener *listener, struct rerun_report *out)
{
    enum status status = STATUS_OK;
    *out = (struct rerun_report){.units = rerun->count};
    if (rerun->other_blas)
        listener->find(listener->context, PROOF_WARNING, "the store was made with another BLAS library, which the reference engine computes with: bits may differ");
    for (size_t first = 0, next; !status && first < rerun->count; first = next) {
        const struct rerun_unit *units = rerun->units;
        for (next = first + 1; next < rerun->count && next - first < TRAJECTORY_MAX_MOMENTA &&
                               hash_equal(units[next].trajectory, units[first].trajectory);)
            next++;
        log_write(LOG_INFO, "training unit %zu (%s)%s again; %zu of %zu units are left", units[first].row,
                  frame_text(&rerun->frame.arm, units[first].row), next - first > 1 ? " and others of its trajectory" : "",
                  rerun->count - first, rerun->count);
        for (size_t i = first; !status && i < next; i++)
            status = check_identity(rerun, &units[i], listener, out);
        if (!status)
            status = train_group(rerun, first, next - first, listener, out);
        out->trajectories++;
    }
    return status;
}
