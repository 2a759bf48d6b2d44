#include "outlook.h"

#include "outlook_json.h"
#include "outlook_left.h"
#include "outlook_text.h"
#include "preflight.h"
#include "recorded.h"
#include "worklist.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/run/state.h"
#include "bnsweep/store/footprint.h"
#include "bnsweep/sweep/identity.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const outlook_state_names[OUTLOOK_STATE_COUNT] = {
#define X(name, text, meaning) text,
    OUTLOOK_STATES(X)
#undef X
};

const char *const outlook_state_meanings[OUTLOOK_STATE_COUNT] = {
#define X(name, text, meaning) meaning,
    OUTLOOK_STATES(X)
#undef X
};

const char *const outlook_apart_texts[OUTLOOK_APART_COUNT] = {
#define X(name, text) text,
    OUTLOOK_APART(X)
#undef X
};

static enum status load(struct outlook *out)
{
    const struct outlook_request *request = &out->request;
    enum status status = sweep_load(request->file, request->sets, request->set_count, &out->sweep);
    if (!status)
        status = preflight_check(&out->sweep);
    if (!status)
        status = sheet_create(&out->sheet, &out->sweep);
    if (status)
        return status;
    size_t count = out->sweep.unit_count;
    out->units = mem_array(count, sizeof *out->units);
    out->states = mem_array(count, sizeof *out->states);
    out->trajectory = mem_array(count, sizeof *out->trajectory);
    return out->units && out->states && out->trajectory ? STATUS_OK : STATUS_NOMEM;
}

static enum status find_store(struct outlook *out)
{
    char path[PATH_MAX];
    const char *given = out->request.store;
    if (snprintf(path, sizeof path, "%s%s", given ? given : out->sweep.name, given ? "" : ".h5") >= (int)sizeof path)
        return status_fail(STATUS_INPUT, "the store's path is too long");
    out->refused = preview_store(path, &out->sheet.layout, &out->sheet.units, out->units, &out->preview);
    if (out->refused)
        snprintf(out->refusal, sizeof out->refusal, "%s", status_message());
    for (int state = 0; state < UNIT_STATUS_COUNT; state++)
        out->extra += out->preview.extra[state];
    if (out->refused == STATUS_NOMEM)
        return STATUS_NOMEM;
    return out->refused ? STATUS_OK : lock_note_read(out->preview.path, &out->writer);
}

static enum outlook_state state_of(const struct outlook *out, size_t unit)
{
    static const enum outlook_state states[UNIT_STATUS_COUNT] = {[UNIT_PENDING] = OUTLOOK_PENDING, [UNIT_RUNNING] = OUTLOOK_RUNNING,
        [UNIT_DONE] = OUTLOOK_DONE, [UNIT_DIVERGED] = OUTLOOK_DIVERGED, [UNIT_FAILED] = OUTLOOK_FAILED};
    return out->units[unit].row >= out->preview.rows ? OUTLOOK_NEW : states[out->units[unit].status];
}

/* Why this unit cannot share a trajectory with other momenta; OUTLOOK_APART_COUNT where it can, or has no running statistics. */
static enum outlook_apart apart_of(const struct outlook *out, const struct settings *settings)
{
    if (!settings_relevant(settings, SETTING_bn_momentum))
        return OUTLOOK_APART_COUNT;
    if (settings->norm == NORM_BATCHRENORM)
        return OUTLOOK_APART_RENORM;
    if (!identity_fusable(settings))
        return OUTLOOK_APART_HELD;
    return out->request.no_fuse ? OUTLOOK_APART_ASKED : OUTLOOK_APART_COUNT;
}

static bool has_momenta(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (sweep->axes[i].key == SETTING_bn_momentum)
            return true;
    return false;
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct hash));
}

/* Count the trajectories to be trained of which the store has other momenta: training them again is the price of a new one. */
static enum status count_again(struct outlook *out)
{
    size_t count = 0;
    struct settings settings;
    struct hash *done = mem_array(out->sweep.unit_count, sizeof *done), key;
    enum status status = done ? STATUS_OK : STATUS_NOMEM;
    for (size_t i = 0; !status && i < out->sweep.unit_count; i++) {
        if (out->states[i] != OUTLOOK_DONE && out->states[i] != OUTLOOK_DIVERGED)
            continue;
        status = sweep_unit(&out->sweep, i, &settings, NULL);
        if (!status && identity_fusable(&settings))
            done[count++] = identity_trajectory(&settings);
    }
    if (count)
        qsort(done, count, sizeof *done, compare_hashes);
    for (size_t t = 0; !status && count && t < out->grouping.count; t++) {
        status = sweep_unit(&out->sweep, out->grouping.units[out->grouping.starts[t]], &settings, NULL);
        key = identity_trajectory(&settings);
        if (!status && !outlook_replays(out, t) && bsearch(&key, done, count, sizeof *done, compare_hashes)) {
            out->again++;
            out->again_units += out->grouping.starts[t + 1] - out->grouping.starts[t];
        }
    }
    mem_free(done);
    return status;
}

/* Count the files in the folder of saved states. */
static size_t count_states(const char *folder)
{
    struct hash key;
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        count += hash_from_hex(entry->d_name, &key);
    if (directory)
        closedir(directory);
    return count;
}

/* Whether a run would go on from the job's state: it is sound, and the store (NULL: there is none) has all that was measured before it.
 * What a journal holds would be in the store by then. */
static bool goes_on(const struct reader *reader, struct job *job)
{
    static const struct recorded nothing;
    uint64_t step;
    if (!reader || state_peek(job->state, job->key, &step))
        return false;
    return reader_journal(reader)->waiting || (!recorded_fill_from(&nothing, reader, job) && job_may_resume(job, step));
}

/* Which trajectories would go on where they were saved; those that a run is at now are not interrupted. */
static enum status find_states(struct outlook *out)
{
    char folder[PATH_MAX + 8];
    struct reader *reader = NULL;
    struct job job;
    enum status status = STATUS_OK;
    snprintf(folder, sizeof folder, "%s.state", out->preview.path);
    size_t there = count_states(folder);
    if (there && out->preview.rows)
        status = reader_open(out->preview.path, &reader);
    for (size_t t = 0; !status && there && t < out->grouping.count; t++) {
        status = worklist_job(&out->sweep, out->units, &out->grouping, t, folder, &job);
        if (status || access(job.state, F_OK) != 0 || !goes_on(reader, &job))
            continue;
        out->saved++;
        for (size_t i = out->grouping.starts[t]; i < out->grouping.starts[t + 1]; i++) {
            unsigned char *state = &out->states[out->grouping.units[i]];
            if (*state != OUTLOOK_RUNNING || out->writer.state != LOCK_HELD)
                *state = OUTLOOK_INTERRUPTED;
        }
    }
    reader_close(reader);
    out->unused_states = there > out->saved ? there - out->saved : 0;
    return status;
}

static enum status group(struct outlook *out)
{
    struct grouping *grouping = &out->grouping;
    bool momenta = has_momenta(&out->sweep);
    struct settings settings;
    enum status status = worklist_make(&out->sweep, out->units, out->request.retry_failed, !out->request.no_fuse, grouping);
    for (size_t t = 0; !status && t < grouping->count; t++) {
        size_t size = grouping->starts[t + 1] - grouping->starts[t];
        for (size_t i = grouping->starts[t]; i < grouping->starts[t + 1]; i++)
            out->trajectory[grouping->units[i]] = t;
        out->to_train += size;
        out->fused_units += size > 1 ? size : 0;
        status = sweep_unit(&out->sweep, grouping->units[grouping->starts[t]], &settings, NULL);
        enum outlook_apart apart = status ? OUTLOOK_APART_COUNT : apart_of(out, &settings);
        if (momenta && apart != OUTLOOK_APART_COUNT)
            out->apart[apart] += size;
    }
    return status;
}

bool outlook_replays(const struct outlook *outlook, size_t trajectory)
{
    return outlook->sources.rows && outlook->sources.rows[trajectory] != UINT64_MAX;
}

/* Which trajectories would be replayed; their units, unless a run is at them now, are computed in a moment. */
static enum status find_sources(struct outlook *out)
{
    if (out->request.no_fuse)
        return STATUS_OK;
    enum status status = sources_find(out->preview.path, &out->sweep, &out->grouping, &out->sources);
    for (size_t t = 0; !status && t < out->grouping.count; t++)
        for (size_t i = out->grouping.starts[t]; outlook_replays(out, t) && i < out->grouping.starts[t + 1]; i++) {
            unsigned char *state = &out->states[out->grouping.units[i]];
            if (*state != OUTLOOK_RUNNING || out->writer.state != LOCK_HELD)
                *state = OUTLOOK_REPLAY;
            out->replayed_units++;
        }
    return status;
}

/* How many trajectories of the whole sweep keep their batch statistics, were all trained. */
static enum status count_keepers(struct outlook *out)
{
    struct grouping all = {0};
    struct settings settings;
    size_t count = out->sweep.unit_count, *units = mem_array(count, sizeof *units);
    enum status status = units ? STATUS_OK : STATUS_NOMEM;
    for (size_t i = 0; !status && i < count; i++)
        units[i] = i;
    if (!status)
        status = grouping_make(&out->sweep, units, count, out->request.no_fuse ? 1 : TRAJECTORY_MAX_MOMENTA, &all);
    for (size_t t = 0; !status && t < all.count; t++) {
        status = sweep_unit(&out->sweep, all.units[all.starts[t]], &settings, NULL);
        out->keepers += !status && identity_fusable(&settings);
    }
    grouping_free(&all);
    mem_free(units);
    return status;
}

static enum status foresee(struct outlook *out)
{
    out->seconds = mem_array(out->grouping.count, sizeof *out->seconds);
    if (!out->seconds)
        return STATUS_NOMEM;
    out->unestimated = estimate_time(&out->sweep, &out->grouping, out->sources.rows, out->request.workers, out->seconds, &out->estimate);
    if (out->unestimated)
        snprintf(out->estimate_message, sizeof out->estimate_message, "%s", status_message());
    uint64_t rows = out->preview.rows;
    for (size_t i = 0; i < out->sweep.unit_count; i++)
        rows = out->units[i].row >= rows ? out->units[i].row + 1 : rows;
    enum status status = footprint_bytes(&out->sheet.layout, &out->sheet.units, rows, &out->store_bytes);
    out->kept_bytes = footprint_kept(&out->sheet.layout, 1);
    if (!status && out->sheet.layout.extent.parameters)
        status = count_keepers(out);
    out->store_bytes += footprint_kept(&out->sheet.layout, out->keepers);
    if (!out->to_train || out->store_bytes < out->preview.bytes)
        out->store_bytes = out->preview.bytes;
    return status;
}

enum status outlook_create(const struct outlook_request *request, struct outlook *out)
{
    out->request = *request;
    enum status status = load(out);
    if (!status)
        status = find_store(out);
    if (status || out->refused)
        return status;
    for (size_t i = 0; i < out->sweep.unit_count; i++) {
        out->states[i] = (unsigned char)state_of(out, i);
        out->trajectory[i] = SIZE_MAX;
    }
    status = group(out);
    if (!status)
        status = find_states(out);
    if (!status)
        status = find_sources(out);
    for (size_t i = 0; i < out->sweep.unit_count; i++)
        out->counts[out->states[i]]++;
    if (!status)
        status = count_again(out);
    return status || out->request.form == OUTLOOK_LEFT ? status : foresee(out);
}

void outlook_free(struct outlook *outlook)
{
    sheet_free(&outlook->sheet);
    sweep_free(&outlook->sweep);
    grouping_free(&outlook->grouping);
    sources_free(&outlook->sources);
    mem_free(outlook->units);
    mem_free(outlook->states);
    mem_free(outlook->trajectory);
    mem_free(outlook->seconds);
}

enum status outlook_print(const struct outlook_request *request)
{
    static enum status (*const print[])(const struct outlook *) = {
        [OUTLOOK_TEXT] = outlook_text_print, [OUTLOOK_JSON] = outlook_json_print, [OUTLOOK_LEFT] = outlook_left_print};
    struct outlook outlook = {0};
    enum status status = outlook_create(request, &outlook);
    if (!status)
        status = print[request->form](&outlook);
    if (!status && outlook.refused)
        status = status_fail(outlook.refused, "%s", outlook.refusal);
    outlook_free(&outlook);
    return status;
}
