#include "evidence.h"

#include "bnsweep/base/mem.h"

#include <math.h>

const char *const evidence_texts[EVIDENCE_COUNT] = {
#define X(name, text) text,
    EVIDENCE(X)
#undef X
};

static const struct {
    enum variable_id id;
    enum evidence_kind kind;
} traced[] = {
    {VARIABLE_loss, EVIDENCE_WEIGHT_TRACE},           {VARIABLE_lr_applied, EVIDENCE_WEIGHT_TRACE},
    {VARIABLE_acc_train, EVIDENCE_WEIGHT_TRACE},      {VARIABLE_val_loss_train, EVIDENCE_WEIGHT_TRACE},
    {VARIABLE_angle, EVIDENCE_WEIGHT_TRACE},          {VARIABLE_norm, EVIDENCE_WEIGHT_TRACE},
    {VARIABLE_acc_eval, EVIDENCE_STATISTICS_TRACE},   {VARIABLE_val_loss_eval, EVIDENCE_STATISTICS_TRACE},
    {VARIABLE_running_mean, EVIDENCE_STATISTICS_TRACE}, {VARIABLE_running_var, EVIDENCE_STATISTICS_TRACE},
};

static enum status read_hashes(const struct frame *frame, enum layout_column_id column, enum evidence_kind kind, struct evidence *out)
{
    char **texts = mem_array(frame->rows, sizeof *texts);
    if (!texts)
        return STATUS_NOMEM;
    const char *name = layout_columns_table[column].name;
    enum status status = reader_texts(frame->reader, name, 0, frame->rows, texts);
    for (size_t i = 0; i < frame->rows; i++) {
        if (!status && out[i].done && !hash_from_hex(texts[i], &out[i].hash[kind]))
            status = status_fail(STATUS_CORRUPT, "%s: unit %zu is done, but its %s is '%.40s'", frame->path, i, name, texts[i]);
        mem_free(texts[i]);
    }
    mem_free(texts);
    return status;
}

/* Chain the hash of one variable's values to those before it, for every unit. */
static enum status trace(const struct frame *frame, enum variable_id id, enum evidence_kind kind, struct evidence *out)
{
    size_t size = frame->extent->checks * variables_size(id, frame->extent);
    size_t rows = frame_block(size);
    rows = rows < frame->rows ? rows : frame->rows;
    float *values = mem_array(rows, size * sizeof *values);
    enum status status = values ? STATUS_OK : STATUS_NOMEM;
    for (size_t first = 0; !status && first < frame->rows; first += rows) {
        size_t count = frame->rows - first < rows ? frame->rows - first : rows;
        status = reader_values(frame->reader, id, first, count, values);
        for (size_t i = 0; !status && i < count; i++) {
            struct evidence *unit = &out[first + i];
            const float *of_unit = values + i * size;
            unit->hash[kind] = hash_combine(unit->hash[kind], hash_bytes(of_unit, size * sizeof *of_unit));
            for (size_t v = 0; v < size && id == VARIABLE_acc_eval && !unit->measured; v++)
                unit->measured = !isnan(of_unit[v]);
        }
    }
    mem_free(values);
    return status;
}

enum status evidence_read(const struct frame *frame, struct evidence *out)
{
    for (size_t i = 0; i < frame->rows; i++)
        out[i] = (struct evidence){.done = frame->status[i] == UNIT_DONE};
    enum status status = read_hashes(frame, COLUMN_weights_init_hash, EVIDENCE_INIT, out);
    if (!status)
        status = read_hashes(frame, COLUMN_weights_hash, EVIDENCE_WEIGHTS, out);
    if (!status)
        status = read_hashes(frame, COLUMN_statistics_hash, EVIDENCE_STATISTICS, out);
    for (size_t i = 0; !status && i < sizeof traced / sizeof *traced; i++)
        if (layout_has_variable(traced[i].id, frame->extent))
            status = trace(frame, traced[i].id, traced[i].kind, out);
    return status;
}
