#include "sheet.h"

#include "parameters.h"
#include "origin/provenance.h"

#include "bnsweep/measure/plan.h"
#include "bnsweep/run/configure.h"
#include "bnsweep/sweep/settings_text.h"

#include <stdio.h>
#include <string.h>

enum { FIXED_ATTRIBUTES = 3, SWEEP_ATTRIBUTES = 2, KEPT_ATTRIBUTES = 1, LAYER_NAME_SIZE = 16 };

/* A setting's text, made again only where the setting is another one: in most units it is that of the unit before. */
struct sheet_text {
    bool known, relevant;
    unsigned char field[SETTINGS_PATH_SIZE]; /* the setting it is of */
    char text[SETTINGS_VALUE_SIZE];
};

/* The type of a setting's column. Whole numbers that not every unit reads are reals, NaN where they are not read. */
static enum layout_type column_type(const struct setting *setting)
{
    if (setting->type == SETTINGS_TYPE_INT && setting->condition == SETTINGS_CONDITION_ALWAYS)
        return LAYOUT_INTEGER;
    return setting->type == SETTINGS_TYPE_INT || setting->type == SETTINGS_TYPE_REAL ? LAYOUT_REAL : LAYOUT_TEXT;
}

/* The setting behind each column: all but the sweep's name, which is an attribute. */
static int column_key(size_t column)
{
    _Static_assert(SETTING_name == 0, "the name is the table's first row");
    return (int)column + 1;
}

static enum status create_columns(struct sheet *sheet)
{
    struct layout_column *columns = arena_array(&sheet->arena, SETTINGS_COUNT - 1, sizeof *columns);
    if (!columns)
        return STATUS_NOMEM;
    for (size_t i = 0; i < SETTINGS_COUNT - 1; i++) {
        const struct setting *setting = &settings_table[column_key(i)];
        columns[i] = (struct layout_column){setting->key, column_type(setting), "", setting->help};
    }
    sheet->layout.columns = columns;
    sheet->layout.column_count = SETTINGS_COUNT - 1;
    sheet->texts = arena_array(&sheet->arena, SETTINGS_COUNT - 1, sizeof *sheet->texts);
    return sheet->texts ? STATUS_OK : STATUS_NOMEM;
}

/* The lines of settings_text_write that belong to [measure], or the one of `channels`: what every unit of a store has in common.
 * What changes no number is left out where it has its default: stores from before it was there have no such line. */
static char *common_text(struct sheet *sheet, const struct settings *settings, bool measure)
{
    char *out = arena_array(&sheet->arena, SETTINGS_TEXT_SIZE, 1), value[SETTINGS_VALUE_SIZE];
    size_t at = 0;
    for (int key = 0; out && key < SETTINGS_COUNT; key++) {
        bool wanted = measure ? settings_table[key].section == SETTINGS_SECTION_MEASURE : key == SETTING_channels;
        if (!wanted || !settings_relevant(settings, key) ||
            (!settings_table[key].numbers && settings_is_default(settings, key)))
            continue;
        settings_text_format(settings, key, value);
        at += (size_t)snprintf(out + at, SETTINGS_TEXT_SIZE - at, "%s = %s\n", settings_table[key].key, value);
    }
    return out;
}

/* `parameters`: what the axis of that name is, "" where there is none. */
static enum status create_attributes(struct sheet *sheet, const struct settings *settings, const char *parameters)
{
    size_t rows, at = 0;
    const struct provenance_row *provenance = provenance_rows(&rows);
    struct layout_attribute *attributes = arena_array(&sheet->arena, rows + FIXED_ATTRIBUTES + SWEEP_ATTRIBUTES + KEPT_ATTRIBUTES,
                                                      sizeof *attributes);
    char *measure = common_text(sheet, settings, true), *network = common_text(sheet, settings, false);
    char *kept = arena_array(&sheet->arena, strlen(parameters) + 1, 1);
    if (!attributes || !measure || !network || !kept)
        return STATUS_NOMEM;
    attributes[at++] = (struct layout_attribute){"sweep", sheet->sweep->name, true};
    attributes[at++] = (struct layout_attribute){"measure", measure, true};
    attributes[at++] = (struct layout_attribute){"network", network, true};
    attributes[at++] = (struct layout_attribute){"ini", sheet->sweep->text, false};
    attributes[at++] = (struct layout_attribute){"resolved", sheet->sweep->resolved, false};
    for (size_t i = 0; i < rows; i++)
        attributes[at++] = (struct layout_attribute){provenance[i].name, provenance[i].text, false};
    if (*parameters)
        attributes[at++] = (struct layout_attribute){"parameters", strcpy(kept, parameters), false};
    sheet->layout.attributes = attributes;
    sheet->layout.attribute_count = at;
    return STATUS_OK;
}

static int64_t *integers(struct sheet *sheet, size_t count)
{
    return arena_array(&sheet->arena, count, sizeof(int64_t));
}

static enum status create_channels(struct sheet *sheet, const struct settings *settings)
{
    struct layout *layout = &sheet->layout;
    int64_t *layer = integers(sheet, layout->extent.channels), *index = integers(sheet, layout->extent.channels);
    const char **names = arena_array(&sheet->arena, layout->extent.layers, sizeof *names);
    char *text = arena_array(&sheet->arena, layout->extent.layers, LAYER_NAME_SIZE);
    if (!layer || !index || !names || !text)
        return STATUS_NOMEM;
    size_t at = 0;
    for (size_t i = 0; i < layout->extent.layers; i++) {
        names[i] = text + i * LAYER_NAME_SIZE;
        snprintf(text + i * LAYER_NAME_SIZE, LAYER_NAME_SIZE, "conv%zu", i + 1);
        for (int64_t c = 0; c < settings->channels.values[i]; c++, at++) {
            layer[at] = (int64_t)i + 1;
            index[at] = c;
        }
    }
    layout->channel_layer = layer;
    layout->channel_index = index;
    layout->layers = names;
    return STATUS_OK;
}

static enum status create_coordinates(struct sheet *sheet, const struct plan *plan)
{
    struct layout *layout = &sheet->layout;
    const struct variables_extent *extent = &layout->extent;
    int64_t *checks = integers(sheet, extent->checks), *samples = integers(sheet, extent->samples);
    int64_t *reests = integers(sheet, extent->reests), *ks = integers(sheet, extent->ks);
    int64_t *steps = integers(sheet, extent->steps), *parameters = integers(sheet, extent->parameters);
    double *emas = arena_array(&sheet->arena, extent->emas, sizeof *emas);
    if (!checks || !samples || !reests || !ks || !emas || !steps || !parameters)
        return STATUS_NOMEM;
    for (size_t i = 0; i < extent->checks; i++)
        checks[i] = (int64_t)plan_check_step(plan, i);
    for (size_t i = 0; i < extent->samples; i++)
        samples[i] = (int64_t)plan_sample_step(plan, i);
    for (size_t i = 0; i < extent->reests; i++)
        reests[i] = (int64_t)plan->reest_batches[i];
    for (size_t i = 0; i < extent->ks; i++)
        ks[i] = (int64_t)plan_k(extent->channels, i);
    for (size_t i = 0; i < extent->emas; i++)
        emas[i] = plan->ema_decays[i];
    for (size_t i = 0; i < extent->steps; i++)
        steps[i] = (int64_t)i + 1;
    for (size_t i = 0; i < extent->parameters; i++)
        parameters[i] = (int64_t)i;
    layout->checks = checks;
    layout->samples = samples;
    layout->reests = reests;
    layout->ks = ks;
    layout->emas = emas;
    layout->steps = steps;
    layout->parameters = parameters;
    layout->orders = plan_order_names;
    return STATUS_OK;
}

/* Settings that are not read are empty, numbers among them NaN. */
static struct writer_text setting_text(struct sheet *sheet, size_t column)
{
    int key = column_key(column);
    const struct setting *setting = &settings_table[key];
    struct sheet_text *kept = &sheet->texts[column];
    const char *field = (const char *)&sheet->settings + setting->offset;
    bool relevant = sheet->conditions >> setting->condition & 1;
    if (kept->known && kept->relevant == relevant && memcmp(kept->field, field, setting->size) == 0)
        return (struct writer_text){kept->text, true};
    if (relevant)
        settings_text_format(&sheet->settings, key, kept->text);
    else
        snprintf(kept->text, sizeof kept->text, "%s", column_type(setting) == LAYOUT_REAL ? "nan" : "");
    memcpy(kept->field, field, setting->size);
    kept->relevant = relevant;
    kept->known = true;
    return (struct writer_text){kept->text, false};
}

/* writer_units' describe: the texts of one unit. */
static enum status describe(void *context, size_t unit, size_t column, struct writer_text *out)
{
    struct sheet *sheet = context;
    if (unit != sheet->described) {
        enum status status = sweep_unit(sheet->sweep, unit, &sheet->settings, &sheet->arm);
        if (status)
            return status;
        sheet->described = unit;
        sheet->conditions = settings_conditions(&sheet->settings);
    }
    *out = column == WRITER_ARM ? (struct writer_text){.text = sheet->arm} : setting_text(sheet, column);
    return STATUS_OK;
}

static bool varies_steps(const struct grid *grid, const struct grid_arm *arm)
{
    for (size_t i = 0; i < arm->axis_count; i++)
        if (grid->entries[arm->axes[i]].key == SETTING_steps)
            return true;
    return false;
}

/* Give the settings of the first unit with the most steps, whose axes hold those of all others. */
static void find_longest(const struct grid *grid, struct settings *longest)
{
    struct settings settings;
    grid_unit(grid, 0, longest, NULL);
    for (size_t a = 0; a < grid->arm_count; a++) {
        const struct grid_arm *arm = &grid->arms[a];
        size_t units = varies_steps(grid, arm) ? arm->count : 1;
        for (size_t i = arm->first; i < arm->first + units; i++) {
            grid_unit(grid, i, &settings, NULL);
            if (settings.steps > longest->steps)
                *longest = settings;
        }
    }
}

enum status sheet_create(struct sheet *sheet, const struct sweep *sweep)
{
    struct settings longest = {0};
    sheet->sweep = sweep;
    sheet->described = sweep->unit_count;
    enum status status = STATUS_OK;
    find_longest(&sweep->grid, &longest);
    struct plan plan = configure_plan(&longest);
    char parameters[PARAMETERS_TEXT_SIZE] = "";
    sheet->layout.extent = configure_extent(&longest);
    if (plan.keep_batch_stats)
        status = parameters_survey(sheet->sweep, &sheet->layout.extent.parameters, parameters);
    if (status)
        return status;
    if (!sheet->layout.extent.parameters)
        sheet->layout.extent.steps = 0; /* no unit keeps anything */
    sheet->units = (struct writer_units){sweep->unit_count, sweep->identities, describe, sheet};
    status = create_columns(sheet);
    if (!status)
        status = create_attributes(sheet, &longest, parameters);
    if (!status)
        status = create_channels(sheet, &longest);
    return status ? status : create_coordinates(sheet, &plan);
}

void sheet_free(struct sheet *sheet)
{
    arena_free(&sheet->arena);
}
