#include "twins.h"

#include "bnsweep/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
    const struct frame *frame;
    const struct evidence *evidence;
    const struct proof_listener *listener;
    struct twins *out;
};

static int compare_hashes(struct hash a, struct hash b)
{
    return a.high != b.high ? (a.high < b.high ? -1 : 1) : (a.low > b.low) - (a.low < b.low);
}

static int compare_traces(const struct evidence *a, const struct evidence *b)
{
    int order = compare_hashes(a->hash[EVIDENCE_WEIGHT_TRACE], b->hash[EVIDENCE_WEIGHT_TRACE]);
    return order ? order : compare_hashes(a->hash[EVIDENCE_STATISTICS_TRACE], b->hash[EVIDENCE_STATISTICS_TRACE]);
}

static int compare_units(const void *a, const void *b, void *evidence)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct evidence *of = evidence;
    int order = compare_traces(&of[x], &of[y]);
    return order ? order : (x > y) - (x < y);
}

/* The settings in which two units differ. */
struct difference {
    size_t count;   /* that both read */
    bool certain;   /* one of them must have changed the weights */
    char text[512]; /* their names */
};

static enum status compare_settings(const struct search *search, uint32_t a, uint32_t b, struct difference *out)
{
    const struct frame *frame = search->frame;
    struct settings of_a, of_b;
    size_t at = 0;
    *out = (struct difference){0};
    enum status status = frame_settings(frame, a, &of_a);
    if (!status)
        status = frame_settings(frame, b, &of_b);
    for (size_t i = 0; !status && i < frame->setting_count; i++) {
        const struct frame_column *column = &frame->settings[i];
        if (!frame_changes_numbers(column) || frame_code(column, a) == frame_code(column, b) || !*frame_text(column, a) ||
            !*frame_text(column, b))
            continue;
        out->count++;
        struct effects effects = effects_of(column->key, &of_a, &of_b);
        out->certain |= effects.on[EVIDENCE_WEIGHTS] == EFFECT_CERTAIN || effects.on[EVIDENCE_STATISTICS] == EFFECT_CERTAIN;
        if (at < sizeof out->text)
            at += (size_t)snprintf(out->text + at, sizeof out->text - at, "%s%s", at ? ", " : "", column->label);
    }
    return status;
}

/* Whether the last check shows the network that the hashes are of. */
static enum status ends_with_check(const struct search *search, uint32_t row, bool *out)
{
    const struct frame *frame = search->frame;
    int64_t steps;
    enum status status = reader_integers(frame->reader, layout_columns_table[COLUMN_steps_done].name, row, 1, &steps);
    *out = false;
    for (size_t i = 0; !status && i < frame->extent->checks; i++)
        *out |= frame->steps[i] == steps;
    return status;
}

static void say(const struct search *search, uint32_t a, uint32_t b, enum proof_level level, const char *differ, const char *why)
{
    char text[1024];
    snprintf(text, sizeof text, "units %u (%s) and %u (%s) differ in %s, but all their measurements are the same to the bit%s", a,
             frame_text(&search->frame->arm, a), b, frame_text(&search->frame->arm, b), *differ ? differ : "nothing that both read", why);
    search->out->errors += level == PROOF_ERROR;
    search->out->warnings += level == PROOF_WARNING;
    search->listener->find(search->listener->context, level, text);
}

static enum status judge(const struct search *search, uint32_t a, uint32_t b)
{
    const struct evidence *of_a = &search->evidence[a], *of_b = &search->evidence[b];
    struct difference difference;
    bool at_end_a, at_end_b;
    enum status status = compare_settings(search, a, b, &difference);
    if (!status)
        status = ends_with_check(search, a, &at_end_a);
    if (!status)
        status = ends_with_check(search, b, &at_end_b);
    if (status)
        return status;
    search->out->pairs++;
    bool same = hash_equal(of_a->hash[EVIDENCE_WEIGHTS], of_b->hash[EVIDENCE_WEIGHTS]) &&
                hash_equal(of_a->hash[EVIDENCE_STATISTICS], of_b->hash[EVIDENCE_STATISTICS]);
    if (!same && at_end_a && at_end_b)
        say(search, a, b, PROOF_ERROR, difference.text, ", though their final networks differ: one unit's values stand in both rows");
    else if (!same)
        say(search, a, b, PROOF_WARNING, difference.text, "; their networks differ only after the last check");
    else if (difference.count != 1) /* of one setting, the pair was judged by its axis */
        say(search, a, b, difference.certain ? PROOF_ERROR : PROOF_WARNING, difference.text, " and so are their networks");
    return STATUS_OK;
}

enum status twins_find(const struct frame *frame, const struct evidence *evidence, const struct proof_listener *listener,
                       struct twins *out)
{
    struct search search = {frame, evidence, listener, out};
    uint32_t *units = mem_array(frame->rows, sizeof *units);
    enum status status = units ? STATUS_OK : STATUS_NOMEM;
    *out = (struct twins){0};
    for (size_t row = 0; !status && row < frame->rows; row++)
        if (evidence[row].done && evidence[row].measured)
            units[out->compared++] = (uint32_t)row;
    if (!status)
        qsort_r(units, out->compared, sizeof *units, compare_units, (void *)(uintptr_t)evidence);
    for (size_t i = 1; !status && i < out->compared; i++)
        if (compare_traces(&evidence[units[i - 1]], &evidence[units[i]]) == 0)
            status = judge(&search, units[i - 1], units[i]);
    mem_free(units);
    return status;
}
