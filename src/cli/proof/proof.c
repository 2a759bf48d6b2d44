#include "proof.h"

#include "bnsweep/base/mem.h"
#include "bnsweep/sweep/settings_parse.h"

#include <stdio.h>
#include <stdlib.h>

struct proof {
    const struct frame *frame;
    const struct evidence *evidence;
    const struct frame_column *column;          /* the axis */
    const struct frame_column **shared;         /* [shared_count] equal in all units of a group */
    const struct frame_column **conditional;    /* [conditional_count] equal in a pair where both read them */
    size_t shared_count, conditional_count;
    const struct proof_listener *listener;
    struct proof_axis *axis;
};

/* Whether the setting decides which others are read at all. */
static bool is_switch(const struct frame_column *column)
{
    enum settings_type type = column->key >= 0 ? settings_table[column->key].type : SETTINGS_TYPE_CHOICE;
    return type == SETTINGS_TYPE_CHOICE || type == SETTINGS_TYPE_FREEZE || type == SETTINGS_TYPE_DIGEST;
}

/* An empty hash is a value: no file was named. Any other empty value is a setting that the unit does not read. */
static bool has_value(const struct frame_column *column, size_t row)
{
    return *frame_text(column, row) || (column->key >= 0 && settings_table[column->key].type == SETTINGS_TYPE_DIGEST);
}

/* Values rise, and an empty one is the lowest. */
static bool is_read_by_all(const struct frame_column *column)
{
    return *column->values[0] || (column->key >= 0 && settings_table[column->key].type == SETTINGS_TYPE_DIGEST);
}

bool proof_varies(const struct frame *frame, const struct evidence *evidence, const struct frame_column *column)
{
    size_t first = frame->rows;
    if (column->count < 2 || !frame_changes_numbers(column))
        return false;
    for (size_t row = 0; row < frame->rows; row++) {
        if (!evidence[row].done || !has_value(column, row))
            continue;
        if (first == frame->rows)
            first = row;
        if (frame_code(column, row) != frame_code(column, first))
            return true;
    }
    return false;
}

static enum status sort_columns(struct proof *proof)
{
    const struct frame *frame = proof->frame;
    proof->shared = mem_array(frame->setting_count, sizeof *proof->shared);
    proof->conditional = mem_array(frame->setting_count, sizeof *proof->conditional);
    if (!proof->shared || !proof->conditional)
        return STATUS_NOMEM;
    for (size_t i = 0; i < frame->setting_count; i++) {
        const struct frame_column *column = &frame->settings[i];
        if (column == proof->column || column->count < 2 || !frame_changes_numbers(column))
            continue;
        if (is_switch(proof->column) && !is_read_by_all(column))
            proof->conditional[proof->conditional_count++] = column;
        else
            proof->shared[proof->shared_count++] = column;
    }
    return STATUS_OK;
}

static int compare_shared(const struct proof *proof, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < proof->shared_count; i++) {
        uint32_t x = frame_code(proof->shared[i], a), y = frame_code(proof->shared[i], b);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int compare_units(const void *a, const void *b, void *proof)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = compare_shared(proof, x, y);
    return order ? order : (x > y) - (x < y);
}

static bool differ_in_axis_alone(const struct proof *proof, uint32_t a, uint32_t b)
{
    if (frame_code(proof->column, a) == frame_code(proof->column, b) || !has_value(proof->column, a) || !has_value(proof->column, b))
        return false;
    for (size_t i = 0; i < proof->conditional_count; i++) {
        const struct frame_column *column = proof->conditional[i];
        if (frame_code(column, a) != frame_code(column, b) && has_value(column, a) && has_value(column, b))
            return false;
    }
    return true;
}

static void find(struct proof *proof, uint32_t a, uint32_t b, enum evidence_kind kind, enum effect effect)
{
    static const char *const says[] = {
        [EFFECT_KEPT] = "differ, which this setting cannot do",
        [EFFECT_LIKELY] = "are the same: no effect seen",
        [EFFECT_CERTAIN] = "are the same: the setting was not applied",
    };
    char text[1024];
    const struct frame_column *column = proof->column;
    snprintf(text, sizeof text, "%s: units %u (%s, %.100s) and %u (%s, %.100s): the %s %s", column->label, a,
             frame_text(&proof->frame->arm, a), frame_text(column, a), b, frame_text(&proof->frame->arm, b), frame_text(column, b),
             evidence_texts[kind], says[effect]);
    proof->listener->find(proof->listener->context, effect == EFFECT_LIKELY ? PROOF_WARNING : PROOF_ERROR, text);
}

static void judge(struct proof *proof, uint32_t a, uint32_t b, const struct effects *effects)
{
    bool wrong = false, inert = false;
    for (int kind = 0; kind < EVIDENCE_COUNT; kind++) {
        enum effect effect = effects->on[kind];
        bool trace = kind == EVIDENCE_WEIGHT_TRACE || kind == EVIDENCE_STATISTICS_TRACE;
        if (effect == EFFECT_OPEN || (trace && !(proof->evidence[a].measured && proof->evidence[b].measured)))
            continue;
        bool same = hash_equal(proof->evidence[a].hash[kind], proof->evidence[b].hash[kind]);
        proof->axis->kept[kind] |= effect == EFFECT_KEPT;
        proof->axis->changed[kind] |= effect != EFFECT_KEPT;
        if (same == (effect == EFFECT_KEPT))
            continue;
        wrong |= effect != EFFECT_LIKELY;
        inert |= effect == EFFECT_LIKELY;
        find(proof, a, b, (enum evidence_kind)kind, effect);
    }
    proof->axis->pairs++;
    proof->axis->errors += wrong;
    proof->axis->warnings += inert && !wrong;
}

/* Judge the pairs among units[0 .. count), which are equal in all shared settings. */
static enum status judge_group(struct proof *proof, const uint32_t *units, size_t count)
{
    struct settings a, b;
    enum status status = STATUS_OK;
    for (size_t i = 0; !status && i + 1 < count; i++) {
        status = frame_settings(proof->frame, units[i], &a);
        b = a;
        for (size_t j = i + 1; !status && j < count; j++) {
            if (!differ_in_axis_alone(proof, units[i], units[j]))
                continue;
            if (is_switch(proof->column))
                status = frame_settings(proof->frame, units[j], &b);
            else if (proof->column->key >= 0)
                settings_parse(&b, proof->column->key, frame_text(proof->column, units[j]));
            struct effects effects = effects_of(proof->column->key, &a, &b);
            if (!status)
                judge(proof, units[i], units[j], &effects);
        }
    }
    return status;
}

static enum status judge_all(struct proof *proof)
{
    uint32_t *units = mem_array(proof->frame->rows, sizeof *units);
    size_t count = 0, next;
    enum status status = units ? STATUS_OK : STATUS_NOMEM;
    for (size_t row = 0; !status && row < proof->frame->rows; row++)
        if (proof->evidence[row].done)
            units[count++] = (uint32_t)row;
    if (!status)
        qsort_r(units, count, sizeof *units, compare_units, proof);
    for (size_t first = 0; !status && first < count; first = next) {
        for (next = first + 1; next < count && compare_shared(proof, units[first], units[next]) == 0;)
            next++;
        status = judge_group(proof, units + first, next - first);
    }
    mem_free(units);
    return status;
}

enum status proof_axis(const struct frame *frame, const struct evidence *evidence, const struct frame_column *column,
                       const struct proof_listener *listener, struct proof_axis *out)
{
    struct proof proof = {.frame = frame, .evidence = evidence, .column = column, .listener = listener, .axis = out};
    *out = (struct proof_axis){.column = column};
    enum status status = sort_columns(&proof);
    if (!status)
        status = judge_all(&proof);
    mem_free(proof.shared);
    mem_free(proof.conditional);
    return status;
}
