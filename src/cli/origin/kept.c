#include "kept.h"

#include "bnsweep/base/mem.h"

#include <math.h>

enum status kept_there(const struct reader *reader, uint64_t row, bool *out)
{
    const struct variables_extent *extent = reader_extent(reader);
    int64_t steps;
    *out = false;
    if (!layout_has_variable(VARIABLE_batch_mean, extent))
        return STATUS_OK;
    enum status status = reader_integers(reader, layout_columns_table[COLUMN_steps_done].name, row, 1, &steps);
    if (status || steps < 1 || (uint64_t)steps > extent->steps)
        return status;
    double *means = mem_array(2 * extent->channels, sizeof *means);
    status = means ? reader_positions(reader, VARIABLE_batch_mean, row, 0, 1, means) : STATUS_NOMEM;
    if (!status)
        status = reader_positions(reader, VARIABLE_batch_mean, row, (uint64_t)steps - 1, 1, means + extent->channels);
    *out = !status && !isnan(means[0]) && !isnan(means[extent->channels]);
    mem_free(means);
    return status;
}

static enum status read_hash(const struct kept *kept, enum layout_column_id column, struct hash *out)
{
    char *text = NULL;
    const char *name = layout_columns_table[column].name;
    enum status status = reader_texts(kept->reader, name, kept->row, 1, &text);
    if (!status && !hash_from_hex(text, out))
        status = status_fail(STATUS_CORRUPT, "unit %llu has the %s '%.40s'", (unsigned long long)kept->row, name, text);
    mem_free(text);
    return status;
}

static enum status read_end(struct kept *kept)
{
    int64_t state, steps;
    bool there = false;
    enum status status = reader_integers(kept->reader, layout_columns_table[COLUMN_status].name, kept->row, 1, &state);
    if (!status)
        status = reader_integers(kept->reader, layout_columns_table[COLUMN_steps_done].name, kept->row, 1, &steps);
    if (!status)
        status = kept_there(kept->reader, kept->row, &there);
    if (!status && (!there || steps < 1 || (state != UNIT_DONE && state != UNIT_DIVERGED)))
        status = status_fail(STATUS_MISMATCH, "unit %llu has kept no batch statistics", (unsigned long long)kept->row);
    if (status)
        return status;
    kept->status = (enum unit_status)state;
    kept->steps = (uint64_t)steps;
    status = read_hash(kept, COLUMN_weights_init_hash, &kept->weights_init);
    return status ? status : read_hash(kept, COLUMN_weights_hash, &kept->weights);
}

enum status kept_open(const char *path, uint64_t row, struct kept *out)
{
    out->row = row;
    enum status status = reader_open_published(path, &out->reader);
    return status ? status : read_end(out);
}

void kept_close(struct kept *kept)
{
    reader_close(kept->reader);
    *kept = (struct kept){0};
}

static enum status read_batches(void *context, uint64_t first, size_t count, double *mean, double *var)
{
    const struct kept *kept = context;
    enum status status = reader_positions(kept->reader, VARIABLE_batch_mean, kept->row, first, count, mean);
    return status ? status : reader_positions(kept->reader, VARIABLE_batch_var, kept->row, first, count, var);
}

/* The store's axis may be longer than this network. */
static enum status read_weights(void *context, uint64_t check, size_t count, float *out)
{
    const struct kept *kept = context;
    size_t stored = reader_extent(kept->reader)->parameters;
    if (stored < count)
        return status_fail(STATUS_MISMATCH, "the store has %zu parameters, the network %zu", stored, count);
    float *all = mem_array(stored, sizeof *all);
    enum status status = all ? reader_positions(kept->reader, VARIABLE_weights, kept->row, check, 1, all) : STATUS_NOMEM;
    for (size_t i = 0; !status && i < count; i++)
        out[i] = all[i];
    mem_free(all);
    return status;
}

static enum status read_check(void *context, uint64_t check, size_t count, float *out)
{
    const struct kept *kept = context;
    const struct variables_extent *extent = reader_extent(kept->reader);
    enum status status = STATUS_OK;
    if (variables_record_size(GROUP_CHECK, extent) != count)
        return status_fail(STATUS_MISMATCH, "the store's checks have %zu values, the trajectory's %zu",
                           variables_record_size(GROUP_CHECK, extent), count);
    for (int id = 0; !status && id < VARIABLE_COUNT; id++)
        if (variables_table[id].group == GROUP_CHECK && layout_has_variable((enum variable_id)id, extent))
            status = reader_positions(kept->reader, (enum variable_id)id, kept->row, check, 1,
                                      out + variables_offset((enum variable_id)id, extent));
    return status;
}

struct replay_source kept_source(struct kept *kept)
{
    return (struct replay_source){kept, kept->steps, read_batches, read_weights, read_check};
}
