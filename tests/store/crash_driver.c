/* crash_driver write STORE TOLD: a writer that takes 36 records, each other one than the others, in commits of three, publishes twice
 * in between and at the end, and says into TOLD, a byte each, what was committed. `crash_driver recover STORE`: opens and closes it.
 * Exit status 0, or what bnsweep's would be. For test_crash_points.c, which ends it at every call. */
#include "crash_records.h"

#include "bnsweep/store/publish.h"

#include <time.h>

/* Wait, in tests of minutes at most, for the publishing child of a killed writer. */
static enum status open_waiting(const char *store, struct writer_unit *units, struct writer **writer)
{
    struct layout layout = fixture_layout();
    enum status status;
    for (int i = 0; (status = fixture_open(store, &layout, CRASH_UNITS, units, writer)) == STATUS_LOCKED && i < 20000; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return status;
}

static enum status take_three(struct writer *writer, const struct writer_unit *units, unsigned char first, int told)
{
    struct layout layout = fixture_layout();
    enum status status = STATUS_OK;
    for (unsigned char i = first; !status && i < first + CRASH_COMMIT; i++)
        status = fixture_values(writer, &layout, units[crash_unit(i)].row, GROUP_CHECK, crash_check(i));
    if (!status)
        status = writer_commit(writer);
    for (unsigned char i = first; !status && i < first + CRASH_COMMIT; i++)
        status = write(told, &i, 1) == 1 ? STATUS_OK : STATUS_INTERNAL;
    return status;
}

/* A publishing that fails is told and goes on, as in a run. */
static void wait_for_child(struct writer *writer)
{
    bool finished = false;
    while (!finished) {
        if (writer_publish_poll(writer, &finished))
            fprintf(stderr, "warning: %s\n", status_message());
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

static enum status write_store(const char *store, int told)
{
    struct writer_unit units[CRASH_UNITS];
    struct writer *writer = NULL;
    char name[] = "crash_driver", publish[] = "publish", path[256];
    char *const arguments[] = {name, publish, path, NULL};
    snprintf(path, sizeof path, "%s", store);
    enum status status = open_waiting(store, units, &writer);
    for (unsigned char first = 0; !status && first < CRASH_RECORDS; first += CRASH_COMMIT) {
        bool publishes = first == 2 * CRASH_COMMIT || first == 6 * CRASH_COMMIT;
        if (publishes)
            status = writer_publish_start(writer, arguments);
        if (!status)
            status = take_three(writer, units, first, told); /* while the child is at it */
        if (!status && publishes)
            wait_for_child(writer);
    }
    enum status closed = writer_close(writer);
    return status ? status : closed;
}

static enum status recover(const char *store)
{
    struct writer_unit units[CRASH_UNITS];
    struct writer *writer = NULL;
    enum status status = open_waiting(store, units, &writer);
    return status ? status : writer_close(writer);
}

int main(int argc, char **argv)
{
    enum status status = STATUS_INPUT;
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        status = write_store(argv[2], open(argv[3], O_WRONLY | O_APPEND));
    else if (argc == 3 && strcmp(argv[1], "recover") == 0)
        status = recover(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "publish") == 0)
        status = publish_run(argv[2]);
    if (status)
        fprintf(stderr, "%s: %s\n", status_name(status), status_message());
    return status_exit_code(status);
}
