/* The one message format, between ranks and between a worker and its training child: a 16-byte header (magic, version, tag,
 * payload length, payload checksum), then the fields of the tag in the order of enum wire_field, all little-endian. */
#ifndef BNSWEEP_MPI_WIRE_H
#define BNSWEEP_MPI_WIRE_H

#include "bnsweep/base/pack.h"
#include "bnsweep/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIRE_VERSION = 1,
    WIRE_HEADER_SIZE = 16,
    WIRE_MAX_PAYLOAD = (64 << 20) + 4096, /* the longest record (RECORD_MAX_VALUES floats) and its fields */
    WIRE_MAX_TEXT = 4096                  /* longer texts are cut */
};

/* What a message may carry; BYTES come last and take the rest of the payload. */
enum wire_field {
    WIRE_TRAJECTORY = 1,
    WIRE_ATTEMPT = 2,
    WIRE_NUMBER = 4,
    WIRE_ROW = 8,
    WIRE_STEPS = 16,
    WIRE_PID = 32,
    WIRE_TEXT = 64,
    WIRE_BYTES = 128,
    WIRE_KEY = WIRE_TRAJECTORY | WIRE_ATTEMPT
};

enum wire_receiver { WIRE_TO_MANAGER, WIRE_TO_WORKER };

/* X(NAME, number, printable name, receiver, fields). The comment says who speaks and what it means. */
#define WIRE_TAGS(X)                                                                                                  \
    /* worker to manager: here I am, give me work (text: host; bytes: identity of the program) */                     \
    X(HELLO, 1, "hello", WIRE_TO_MANAGER, WIRE_TEXT | WIRE_BYTES)                                                     \
    /* manager to worker to child: train this (pid: the child's parent; bytes: the caller's) */                       \
    X(JOB, 2, "job", WIRE_TO_WORKER, WIRE_KEY | WIRE_PID | WIRE_BYTES)                                                \
    /* child to worker to manager: record `number` (from 1, within the attempt) of the unit in `row` */               \
    X(RECORD, 3, "record", WIRE_TO_MANAGER, WIRE_KEY | WIRE_NUMBER | WIRE_ROW | WIRE_BYTES)                           \
    /* manager to worker to child: all records up to `number` are on disk */                                          \
    X(ACK, 4, "ack", WIRE_TO_WORKER, WIRE_KEY | WIRE_NUMBER)                                                          \
    /* child to worker to manager: how far it is */                                                                   \
    X(PROGRESS, 5, "progress", WIRE_TO_MANAGER, WIRE_KEY | WIRE_STEPS)                                                \
    /* the end of an attempt, behind its records; the worker is free again (number: how many records) */              \
    X(FINISHED, 6, "finished", WIRE_TO_MANAGER, WIRE_KEY | WIRE_NUMBER)                                               \
    X(STOPPED, 7, "stopped", WIRE_TO_MANAGER, WIRE_KEY)                                                               \
    X(FAILED, 8, "failed", WIRE_TO_MANAGER, WIRE_KEY | WIRE_TEXT)                                                     \
    /* heartbeats: from the manager, from a worker */                                                                 \
    X(PING, 9, "ping", WIRE_TO_WORKER, 0)                                                                             \
    X(ALIVE, 10, "alive", WIRE_TO_MANAGER, 0)                                                                         \
    /* manager to worker: stop the child, it saves its state */                                                       \
    X(DRAIN, 11, "drain", WIRE_TO_WORKER, 0)                                                                          \
    /* manager to worker: as drain, and no record will be acknowledged any more: the disk has failed */               \
    X(HALT, 15, "halt", WIRE_TO_WORKER, 0)                                                                            \
    /* worker to manager: no more work for me (text: why) */                                                          \
    X(LEAVING, 12, "leaving", WIRE_TO_MANAGER, WIRE_TEXT)                                                             \
    /* manager to worker: end; worker to manager: the last word */                                                    \
    X(QUIT, 13, "quit", WIRE_TO_WORKER, 0)                                                                            \
    X(BYE, 14, "bye", WIRE_TO_MANAGER, 0)

enum wire_tag {
#define X(name, number, text, receiver, fields) WIRE_##name = number,
    WIRE_TAGS(X)
#undef X
};

/* A message; fields that its tag does not carry are 0. Owns nothing. */
struct wire_message {
    enum wire_tag tag;
    uint32_t trajectory, attempt, number, row, pid;
    uint64_t step, steps;
    const char *text; /* NULL is sent as "" */
    const void *bytes;
    size_t size; /* of bytes */
};

/* Return the tag's printable name; "unknown" for a number not in the list. */
const char *wire_name(enum wire_tag tag);

/* Return whether ranks send messages of this tag to workers. */
bool wire_is_for_worker(enum wire_tag tag);

/* Append the message's frame to `pack`. STATUS_NOMEM; STATUS_INPUT where it exceeds WIRE_MAX_PAYLOAD. */
enum status wire_pack(const struct wire_message *message, struct pack *pack);

/* Look at the `size` bytes received so far: `*frame_size` is the first frame's whole size, 0 while its header is incomplete.
 * STATUS_CORRUPT for what is no header or too long, STATUS_VERSION for another protocol version. */
enum status wire_measure(const void *bytes, size_t size, size_t *frame_size);

/* Read one frame of exactly `size` bytes; `out` points into `bytes`. STATUS_CORRUPT, STATUS_VERSION. */
enum status wire_unpack(const void *bytes, size_t size, struct wire_message *out);

#endif
