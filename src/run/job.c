#include "bnsweep/run/job.h"

#include "bnsweep/base/unpack.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/run/keep.h"
#include "bnsweep/sweep/settings_text.h"

enum status job_pack(const struct job *job, struct pack *pack)
{
    char text[SETTINGS_TEXT_SIZE];
    settings_text_write(&job->settings, text);
    pack_u32(pack, (uint32_t)job->count);
    for (size_t i = 0; i < job->count; i++) {
        pack_u32(pack, job->rows[i]);
        pack_f64(pack, job->momenta[i]);
    }
    pack_hash(pack, job->key);
    pack_text(pack, text);
    pack_text(pack, job->state);
    pack_f64(pack, job->state_every);
    pack_u32(pack, job->checks);
    pack_u32(pack, job->samples);
    pack_u64(pack, job->steps);
    pack_u64(pack, job->parameters);
    pack_u8(pack, job->replay);
    pack_u32(pack, job->source);
    pack_text(pack, job->store);
    return pack->failed ? status_fail(STATUS_NOMEM, "out of memory for a job") : STATUS_OK;
}

enum status job_unpack(const void *bytes, size_t size, struct job *out)
{
    struct unpack unpack = {.data = bytes, .size = size};
    char text[SETTINGS_TEXT_SIZE];
    *out = (struct job){.count = unpack_u32(&unpack)};
    if (out->count < 1 || out->count > TRAJECTORY_MAX_MOMENTA)
        return status_fail(STATUS_CORRUPT, "a job of %zu units; from 1 to %d are possible", out->count, TRAJECTORY_MAX_MOMENTA);
    for (size_t i = 0; i < out->count; i++) {
        out->rows[i] = unpack_u32(&unpack);
        out->momenta[i] = unpack_f64(&unpack);
    }
    out->key = unpack_hash(&unpack);
    unpack_text(&unpack, text, sizeof text);
    unpack_text(&unpack, out->state, sizeof out->state);
    out->state_every = unpack_f64(&unpack);
    out->checks = unpack_u32(&unpack);
    out->samples = unpack_u32(&unpack);
    out->steps = unpack_u64(&unpack);
    out->parameters = unpack_u64(&unpack);
    out->replay = unpack_u8(&unpack);
    out->source = unpack_u32(&unpack);
    unpack_text(&unpack, out->store, sizeof out->store);
    if (unpack.failed || unpack.at != unpack.size)
        return status_fail(STATUS_CORRUPT, "a job of %zu bytes is damaged", size);
    return status_context(settings_text_read(text, &out->settings), "job");
}

bool job_may_resume(const struct job *job, uint64_t step)
{
    struct plan plan = configure_plan(&job->settings);
    bool has_running = job->settings.norm == NORM_BATCH || job->settings.norm == NORM_BATCHRENORM;
    uint64_t checks = step >= plan.first_check ? (step - plan.first_check) / plan.check_every + 1 : 0;
    uint64_t samples = plan.trace_every && has_running ? step / plan.trace_every : 0;
    bool kept = keep_wanted(&plan, (enum norm_kind)job->settings.norm, (enum freeze_stats_kind)job->settings.freeze_stats);
    return checks <= job->checks && samples <= job->samples && (!kept || step <= job->steps);
}
