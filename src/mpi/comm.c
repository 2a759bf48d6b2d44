#include "bnsweep/mpi/comm.h"

#include "bnsweep/base/log.h"
#include "bnsweep/base/mem.h"
#include "bnsweep/mpi/fifo.h"
#include "bnsweep/mpi/wire.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MESSAGE_TAG = 7,
    TESTS_A_POLL = 16, /* sends looked at in one poll: one that is stuck must not hold up the freeing of the others */
    TEXT_SIZE = 1024,
    MAX_FRAME = WIRE_HEADER_SIZE + WIRE_MAX_PAYLOAD
};

/* One message on its way; its bytes stay here until MPI has taken them. */
struct parcel {
    MPI_Request request;
    size_t size;
    unsigned char *bytes; /* owned */
};

struct comm {
    int rank, size;
    bool given_up;
    struct fifo sending;  /* struct parcel, to other ranks */
    struct fifo to_self;  /* struct parcel, without requests */
    unsigned char *received; /* owned: the message that the last poll gave */
    size_t capacity;
    char host[256];
};

static enum status checked(int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return STATUS_OK;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    return status_fail(STATUS_IO, "%s: %s", what, text);
}

/* MPI's own waiting burns a core: 91% of one, against 1.2% with this. */
static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static enum status wait_gently(MPI_Request *request, const char *what)
{
    for (int done = 0;;) {
        enum status status = checked(MPI_Test(request, &done, MPI_STATUS_IGNORE), what);
        if (status || done)
            return status;
        nap();
    }
}

enum status comm_init(struct comm **out)
{
    *out = NULL;
    int provided; /* another thread of rank 0 may write files meanwhile */
    enum status status = checked(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    if (status)
        return status;
    struct comm *comm = mem_array(1, sizeof *comm);
    if (!comm)
        return STATUS_NOMEM;
    comm->sending.item_size = comm->to_self.item_size = sizeof(struct parcel);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &comm->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm->size);
    if (gethostname(comm->host, sizeof comm->host - 1))
        strcpy(comm->host, "unknown");
    *out = comm;
    return STATUS_OK;
}

/* Whether something that this MPI understands started the process: mpirun, or srun with PMIx. */
static bool launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK");
}

/* Inside a Slurm step the step's own count is the truth, outside it the job's. */
enum status comm_check_launch(void)
{
    static const char *const variables[] = {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "PMI_SIZE"};
    for (size_t i = 0; !launched() && i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (!value)
            continue;
        if (atol(value) <= 1)
            break;
        return status_fail(STATUS_INPUT, "%s is %s, but MPI would see a single rank, so each would run the whole sweep on its own: "
                           "start with `srun --mpi=pmix bnsweep run ...` or `mpirun bnsweep run ...` of the Open MPI that "
                           "bnsweep is built with", variables[i], value);
    }
    if (!launched() && getenv("SLURM_STEP_ID"))
        return status_fail(STATUS_INPUT, "srun started this without PMIx, and MPI cannot start inside such a step: "
                           "use `srun --mpi=pmix bnsweep run ...` or `mpirun bnsweep run ...`");
    return STATUS_OK;
}

int comm_rank(const struct comm *comm)
{
    return comm->rank;
}

int comm_size(const struct comm *comm)
{
    return comm->size;
}

const char *comm_host(const struct comm *comm)
{
    return comm->host;
}

enum status comm_agree(struct comm *comm, enum status mine)
{
    MPI_Request request;
    int first = mine ? comm->rank : comm->size; /* the lowest rank that failed */
    enum status status = checked(MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request),
                                 "MPI_Iallreduce");
    if (!status)
        status = wait_gently(&request, "MPI_Iallreduce");
    if (status || first == comm->size)
        return status;
    struct {
        int status;
        char text[TEXT_SIZE];
    } verdict = {.status = mine};
    strncpy(verdict.text, status_message(), TEXT_SIZE - 1);
    status = checked(MPI_Ibcast(&verdict, sizeof verdict, MPI_BYTE, first, MPI_COMM_WORLD, &request), "MPI_Ibcast");
    if (!status)
        status = wait_gently(&request, "MPI_Ibcast");
    if (status || comm->rank == first)
        return status ? status : mine;
    verdict.text[TEXT_SIZE - 1] = 0;
    return status_fail((enum status)verdict.status, "rank %d: %s", first, verdict.text);
}

enum status comm_send(struct comm *comm, int rank, const void *bytes, size_t size)
{
    if (size > MAX_FRAME || rank < 0 || rank >= comm->size)
        return status_fail(STATUS_INTERNAL, "sending %zu bytes to rank %d of %d", size, rank, comm->size);
    struct parcel parcel = {.request = MPI_REQUEST_NULL, .size = size, .bytes = mem_array(size, 1)};
    if (!parcel.bytes)
        return STATUS_NOMEM;
    memcpy(parcel.bytes, bytes, size);
    struct fifo *queue = rank == comm->rank ? &comm->to_self : &comm->sending;
    enum status status = STATUS_OK;
    if (queue == &comm->sending)
        status = checked(MPI_Isend(parcel.bytes, (int)size, MPI_BYTE, rank, MESSAGE_TAG, MPI_COMM_WORLD, &parcel.request),
                         "MPI_Isend");
    if (status) {
        mem_free(parcel.bytes);
        return status;
    }
    status = fifo_push(queue, &parcel);
    if (status && parcel.request != MPI_REQUEST_NULL)
        comm->given_up = true; /* MPI still reads the bytes, and nothing will ever wait for it */
    else if (status)
        mem_free(parcel.bytes);
    return status;
}

/* Free what has been sent; look at up to `limit` messages, those still on their way go to the back of the line. */
static enum status drive(struct comm *comm, size_t limit)
{
    for (size_t i = 0; i < limit && comm->sending.count; i++) {
        struct parcel parcel = *(struct parcel *)fifo_at(&comm->sending, 0);
        int done;
        enum status status = checked(MPI_Test(&parcel.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (status)
            return status;
        fifo_pop(&comm->sending);
        if (done)
            mem_free(parcel.bytes);
        else
            fifo_push(&comm->sending, &parcel); /* has room: one was popped */
    }
    return STATUS_OK;
}

static enum status receive(struct comm *comm, const MPI_Status *probed, struct comm_message *out)
{
    int count = 0, got = 0;
    MPI_Get_count(probed, MPI_BYTE, &count);
    if (count < 0 || count > MAX_FRAME)
        return status_fail(STATUS_CORRUPT, "a message of %d bytes from rank %d, at most %d are allowed", count,
                           probed->MPI_SOURCE, MAX_FRAME);
    if ((size_t)count > comm->capacity) {
        unsigned char *grown = mem_array((size_t)count, 1);
        if (!grown)
            return STATUS_NOMEM;
        mem_free(comm->received);
        comm->received = grown;
        comm->capacity = (size_t)count;
    }
    MPI_Status received;
    enum status status = checked(MPI_Recv(comm->received, count, MPI_BYTE, probed->MPI_SOURCE, MESSAGE_TAG, MPI_COMM_WORLD,
                                          &received), "MPI_Recv");
    if (status)
        return status;
    MPI_Get_count(&received, MPI_BYTE, &got);
    if (got != count)
        return status_fail(STATUS_CORRUPT, "%d bytes from rank %d where %d were announced", got, probed->MPI_SOURCE, count);
    *out = (struct comm_message){probed->MPI_SOURCE, comm->received, (size_t)count};
    return STATUS_OK;
}

enum status comm_poll(struct comm *comm, struct comm_message *out)
{
    *out = (struct comm_message){0};
    enum status status = drive(comm, TESTS_A_POLL);
    if (status)
        return status;
    struct parcel *own = fifo_at(&comm->to_self, 0);
    if (own) {
        mem_free(comm->received);
        comm->received = own->bytes;
        comm->capacity = own->size;
        *out = (struct comm_message){comm->rank, own->bytes, own->size};
        fifo_pop(&comm->to_self);
        return STATUS_OK;
    }
    if (comm->size == 1)
        return STATUS_OK;
    int came = 0;
    MPI_Status probed;
    status = checked(MPI_Iprobe(MPI_ANY_SOURCE, MESSAGE_TAG, MPI_COMM_WORLD, &came, &probed), "MPI_Iprobe");
    return status || !came ? status : receive(comm, &probed, out);
}

void comm_give_up(struct comm *comm)
{
    comm->given_up = true;
}

static void free_parcels(struct fifo *fifo)
{
    for (struct parcel *parcel; (parcel = fifo_at(fifo, 0)); fifo_pop(fifo))
        mem_free(parcel->bytes);
    fifo_free(fifo);
}

void comm_finalize(struct comm *comm, int exit_code)
{
    if (!comm)
        return;
    MPI_Request request;
    if (comm->given_up)
        MPI_Abort(MPI_COMM_WORLD, exit_code);
    enum status status = checked(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    if (!status)
        status = wait_gently(&request, "MPI_Ibarrier");
    /* Everybody has stopped polling; a message that is still queued has no reader, and MPI would wait for it for ever. */
    for (unsigned i = 0; !status && comm->sending.count && i < 100; i++) {
        status = drive(comm, comm->sending.count);
        nap();
    }
    if (status || comm->sending.count) {
        log_write(LOG_ERROR, "ending MPI: %s", status ? status_message() : "a message was never received");
        MPI_Abort(MPI_COMM_WORLD, exit_code);
    }
    MPI_Finalize();
    free_parcels(&comm->sending);
    free_parcels(&comm->to_self);
    mem_free(comm->received);
    mem_free(comm);
}
