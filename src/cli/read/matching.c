#include "matching.h"

#include "bnsweep/base/mem.h"

#include <stdlib.h>

/* One store's units, sorted by identity. */
struct entry {
    struct hash identity;
    uint64_t row;
};

static int compare_hashes(struct hash a, struct hash b)
{
    return a.high != b.high ? (a.high < b.high ? -1 : 1) : (a.low > b.low) - (a.low < b.low);
}

static int compare_entries(const void *a, const void *b)
{
    return compare_hashes(((const struct entry *)a)->identity, ((const struct entry *)b)->identity);
}

static int compare_pairs(const void *a, const void *b)
{
    uint64_t x = ((const struct matching_pair *)a)->a, y = ((const struct matching_pair *)b)->a;
    return (x > y) - (x < y);
}

static int compare_rows(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum status read_identities(const struct reader *reader, const char *which, struct entry *out)
{
    size_t rows = (size_t)reader_rows(reader);
    char **texts = mem_array(rows, sizeof *texts);
    if (!texts)
        return STATUS_NOMEM;
    enum status status = reader_texts(reader, layout_columns_table[COLUMN_identity].name, 0, rows, texts);
    for (size_t i = 0; i < rows; i++) {
        out[i].row = i;
        if (!status && !hash_from_hex(texts[i], &out[i].identity))
            status = status_fail(STATUS_CORRUPT, "%s: unit %zu has the identity '%.40s'", which, i, texts[i]);
        mem_free(texts[i]);
    }
    mem_free(texts);
    qsort(out, rows, sizeof *out, compare_entries);
    for (size_t i = 1; !status && i < rows; i++)
        if (compare_entries(&out[i - 1], &out[i]) == 0)
            status = status_fail(STATUS_CORRUPT, "%s: units %llu and %llu have the same identity", which,
                                 (unsigned long long)out[i - 1].row, (unsigned long long)out[i].row);
    return status;
}

static void merge(const struct entry *a, size_t a_count, const struct entry *b, size_t b_count, struct matching *out)
{
    size_t i = 0, j = 0;
    while (i < a_count || j < b_count) {
        int order = i == a_count ? 1 : j == b_count ? -1 : compare_entries(&a[i], &b[j]);
        if (order == 0)
            out->pairs[out->pair_count++] = (struct matching_pair){a[i++].row, b[j++].row};
        else if (order < 0)
            out->only_a[out->only_a_count++] = a[i++].row;
        else
            out->only_b[out->only_b_count++] = b[j++].row;
    }
    qsort(out->pairs, out->pair_count, sizeof *out->pairs, compare_pairs);
    qsort(out->only_a, out->only_a_count, sizeof *out->only_a, compare_rows);
    qsort(out->only_b, out->only_b_count, sizeof *out->only_b, compare_rows);
}

enum status matching_make(const struct reader *a, const struct reader *b, struct matching *out)
{
    size_t a_count = (size_t)reader_rows(a), b_count = (size_t)reader_rows(b);
    struct entry *of_a = mem_array(a_count, sizeof *of_a), *of_b = mem_array(b_count, sizeof *of_b);
    out->pairs = mem_array(a_count < b_count ? a_count : b_count, sizeof *out->pairs);
    out->only_a = mem_array(a_count, sizeof *out->only_a);
    out->only_b = mem_array(b_count, sizeof *out->only_b);
    enum status status = of_a && of_b && out->pairs && out->only_a && out->only_b ? STATUS_OK : STATUS_NOMEM;
    if (!status)
        status = read_identities(a, "first store", of_a);
    if (!status)
        status = read_identities(b, "second store", of_b);
    if (!status)
        merge(of_a, a_count, of_b, b_count, out);
    mem_free(of_a);
    mem_free(of_b);
    return status;
}

void matching_free(struct matching *matching)
{
    mem_free(matching->pairs);
    mem_free(matching->only_a);
    mem_free(matching->only_b);
    *matching = (struct matching){0};
}
