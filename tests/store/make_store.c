/* Makes a small store: make_store FILE. For the tests of other programs' readers. */
#include "fixture.h"

int main(int argc, char **argv)
{
    struct layout layout = fixture_layout();
    struct writer_unit units[4];
    struct writer *writer;
    if (argc != 2)
        return 2;
    enum status status = fixture_open(argv[1], &layout, 4, units, &writer);
    if (!status)
        status = fixture_unit(writer, &layout, 0);
    if (!status)
        status = fixture_unit(writer, &layout, 2);
    if (!status)
        status = writer_close(writer);
    if (status)
        fprintf(stderr, "make_store: %s\n", status_message());
    return status != STATUS_OK;
}
