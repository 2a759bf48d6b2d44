#include "values_internal.h"

#include "bnsweep/base/mem.h"

#include <string.h>

struct group {
    size_t count, size; /* records of the group in a unit, values in each */
    float *values;      /* [count][size] owned */
    bool *present;      /* [count] owned */
    bool any;
};

struct values {
    struct variables_extent extent;
    struct group groups[GROUP_COUNT];
    float *gathered;                /* owned: room for all values of the largest variable in one unit */
    hid_t datasets[VARIABLE_COUNT]; /* -1: the store has no such variable */
};

static enum status open_group(struct values *values, enum variable_group which, size_t *largest)
{
    struct group *group = &values->groups[which];
    if (variables_kept(which))
        return STATUS_OK;
    group->count = variables_record_count(which, &values->extent);
    group->size = variables_record_size(which, &values->extent);
    size_t total = group->count;
    if (!mem_multiply(&total, group->size))
        return status_fail(STATUS_NOMEM, "a unit of %zu records of %zu values is too large", group->count, group->size);
    *largest = total > *largest ? total : *largest;
    group->values = mem_array(total, sizeof *group->values);
    group->present = mem_array(group->count, sizeof *group->present);
    return group->values && group->present ? STATUS_OK : STATUS_NOMEM;
}

enum status values_open(hid_t file, const struct variables_extent *extent, struct values **out)
{
    size_t largest = 1;
    struct values *values = mem_array(1, sizeof *values);
    *out = values;
    if (!values)
        return STATUS_NOMEM;
    values->extent = *extent;
    for (int id = 0; id < VARIABLE_COUNT; id++)
        values->datasets[id] = -1;
    enum status status = STATUS_OK;
    for (int group = 0; !status && group < GROUP_COUNT; group++)
        status = open_group(values, (enum variable_group)group, &largest);
    if (!status && !(values->gathered = mem_array(largest, sizeof *values->gathered)))
        status = STATUS_NOMEM;
    for (int id = 0; !status && id < VARIABLE_COUNT; id++)
        if (layout_has_variable((enum variable_id)id, extent))
            status = h5_open_dataset(file, variables_table[id].name, &values->datasets[id]);
    if (status) {
        values_close(values, status);
        *out = NULL;
    }
    return status;
}

void values_put(struct values *values, const struct record *record)
{
    struct group *group = &values->groups[record->group];
    memcpy(group->values + record->index * group->size, record->values, group->size * sizeof(float));
    group->present[record->index] = group->any = true;
}

/* Write positions [first, end) of one variable, gathered in its type. */
static enum status write_gathered(struct values *values, enum variable_id id, uint64_t row, size_t first, size_t end, const void *gathered)
{
    enum layout_axis axes[LAYOUT_MAX_RANK];
    struct h5_slab slab = {.rank = layout_variable_axes(id, axes), .start = {row}, .count = {1}};
    int axis = 1;
    if (variables_table[id].group != GROUP_UNIT) {
        slab.start[axis] = first;
        slab.count[axis++] = end - first;
    }
    for (; axis < slab.rank; axis++)
        slab.count[axis] = layout_length(&values->extent, axes[axis]);
    hid_t type = variables_double(variables_table[id].group) ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
    return h5_write(values->datasets[id], variables_table[id].name, type, &slab, gathered);
}

/* Write records [first, end) of one variable. */
static enum status write_run(struct values *values, enum variable_id id, uint64_t row, size_t first, size_t end)
{
    const struct group *group = &values->groups[variables_table[id].group];
    size_t size = variables_size(id, &values->extent), offset = variables_offset(id, &values->extent);
    for (size_t i = first; i < end; i++)
        memcpy(values->gathered + (i - first) * size, group->values + i * group->size + offset, size * sizeof(float));
    return write_gathered(values, id, row, first, end, values->gathered);
}

enum status values_write_kept(struct values *values, uint64_t row, const struct record *record)
{
    bool doubles = variables_double(record->group);
    size_t record_size = variables_record_size(record->group, &values->extent), element = doubles ? sizeof(double) : sizeof(float);
    size_t records = record->count / record_size;
    const char *from = doubles ? (const char *)record->doubles : (const char *)record->values;
    char *gathered = mem_array(record->count, element);
    enum status status = gathered ? STATUS_OK : STATUS_NOMEM;
    for (int id = 0; !status && id < VARIABLE_COUNT; id++) {
        if (variables_table[id].group != record->group || values->datasets[id] < 0)
            continue;
        size_t size = variables_size((enum variable_id)id, &values->extent) * element;
        size_t offset = variables_offset((enum variable_id)id, &values->extent) * element;
        for (size_t i = 0; i < records; i++)
            memcpy(gathered + i * size, from + i * record_size * element + offset, size);
        status = write_gathered(values, (enum variable_id)id, row, record->index, record->index + records, gathered);
    }
    mem_free(gathered);
    return status;
}

static enum status write_group(struct values *values, enum variable_group which, uint64_t row)
{
    struct group *group = &values->groups[which];
    for (size_t first = 0, end; first < group->count; first = end + 1) {
        for (end = first; end < group->count && group->present[end];)
            end++;
        for (int id = 0; end > first && id < VARIABLE_COUNT; id++) {
            if (variables_table[id].group != which || values->datasets[id] < 0)
                continue;
            enum status status = write_run(values, (enum variable_id)id, row, first, end);
            if (status)
                return status;
        }
    }
    memset(group->present, 0, group->count * sizeof *group->present);
    group->any = false;
    return STATUS_OK;
}

enum status values_write(struct values *values, uint64_t row)
{
    enum status status = STATUS_OK;
    for (int group = 0; !status && group < GROUP_COUNT; group++)
        if (values->groups[group].any)
            status = write_group(values, (enum variable_group)group, row);
    return status;
}

enum status values_close(struct values *values, enum status status)
{
    if (!values)
        return status;
    for (int id = 0; id < VARIABLE_COUNT; id++)
        if (values->datasets[id] >= 0)
            status = h5_close_dataset(values->datasets[id], variables_table[id].name, status);
    for (int group = 0; group < GROUP_COUNT; group++) {
        mem_free(values->groups[group].values);
        mem_free(values->groups[group].present);
    }
    mem_free(values->gathered);
    mem_free(values);
    return status;
}
