#include "bnsweep/store/publish.h"

#include "bnsweep/store/lock.h"
#include "paths_internal.h"
#include "publish_internal.h"
#include "replace_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* Close the temporary's HDF5 file and put it in the store's place, or give it up where `status` is a failure. */
static enum status finish(struct replace *replace, hid_t file, enum status status)
{
    if (file >= 0 && status)
        H5Fclose(file);
    else if (file >= 0)
        status = h5_close(file, replace->temporary);
    if (!status)
        return replace_commit(replace);
    replace_abort(replace);
    return status;
}

static enum status fill_new(hid_t file, const struct layout *layout, const struct publish_edit *edit, const char *store)
{
    struct schema schema;
    struct hash identity;
    if (getrandom(&identity, sizeof identity, 0) != sizeof identity)
        return status_fail(STATUS_IO, "no random numbers for the store's identity: %s", strerror(errno));
    enum status status = schema_create(file, layout, identity);
    if (!status)
        status = schema_read(file, store, &schema);
    return status ? status : edit->make(file, &schema, edit->context);
}

enum status publish_create(const char *store, const struct layout *layout, const struct publish_edit *edit)
{
    struct replace replace;
    hid_t file = -1;
    enum status status = replace_begin(store, &replace);
    if (status)
        return status;
    status = replace_reserve(&replace, edit->growth);
    if (!status)
        status = h5_create(replace.temporary, &file);
    if (!status)
        status = fill_new(file, layout, edit, store);
    return status_context(finish(&replace, file, status), "making %s", store);
}

static enum status change(hid_t file, struct replace *replace, const struct publish_source *source, const struct publish_edit *edit)
{
    struct schema schema;
    struct apply_plan plan = {0};
    enum status status = schema_read(file, replace->target, &schema);
    if (!status)
        status = source->list(source->reader, &schema, &plan, source->context);
    if (!status)
        status = replace_reserve(replace, apply_growth(&plan, &schema) + (edit ? edit->growth : 0));
    if (!status)
        status = apply_write(file, source->reader, &schema, &plan);
    if (!status && edit)
        status = edit->make(file, &schema, edit->context);
    apply_free(&plan);
    return status;
}

enum status publish_from(const char *store, const struct publish_source *source, const struct publish_edit *edit)
{
    struct replace replace;
    hid_t file = -1;
    enum status status = replace_begin(store, &replace);
    if (status)
        return status;
    status = replace_copy(&replace);
    if (!status)
        status = h5_open(replace.temporary, true, &file);
    if (!status)
        status = change(file, &replace, source, edit);
    return finish(&replace, file, status);
}

static enum status list_all(struct journal_reader *reader, const struct schema *schema, struct apply_plan *out, void *context)
{
    (void)context;
    return apply_list(reader, schema, out);
}

enum status publish_update(const char *store, const struct publish_edit *edit)
{
    char path[PATH_MAX];
    struct publish_source source = {.list = list_all};
    enum status status = paths_beside(store, ".journal", path);
    if (!status)
        status = journal_reader_open(path, &source.reader);
    if (!status)
        status = publish_from(store, &source, edit);
    journal_reader_close(source.reader);
    return status_context(status, "publishing %s", store);
}

enum status publish_run(const char *path)
{
    char store[PATH_MAX];
    struct lock lock;
    enum status status = paths_resolve(path, store);
    if (!status)
        status = lock_take(store, &lock);
    if (status)
        return status;
    status = publish_update(store, NULL);
    lock_release(&lock);
    return status;
}
