/* A program that is one end of a session: `PROGRAM client PORT` connects to a server on this computer, `PROGRAM server` says its port.
 * The client sends a word over the session, the server sends it back.
 *
 * end.c has the sockets and the main function. A file for each library has the functions below that it calls, around the settings
 * that `slowhand settings` has printed: test_settings_live.py writes them to settings.h, with the calls of their functions. */
#ifndef END_H
#define END_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The program's part of the settings: the arguments and variables that they name. */
extern const unsigned char psk[];
extern const size_t psk_length;

extern int is_server;
/* A connected socket that does not block. */
extern int the_socket;
extern struct sockaddr_storage the_peer;
extern socklen_t the_peers_length;

/* The clock, in milliseconds. */
uint64_t now_ms(void);
/* Waits until something can be read, at most so long (below 0: for ever). True if something can. */
int wait_ms(long most);
/* The results of recv() and send(). A datagram that is not sent is lost. */
ssize_t take(void *octets, size_t room);
ssize_t put(const void *octets, size_t length);
void fill_randomly(unsigned char *octets, size_t length);
/* Octets of a file of this name, which has them as they are (DER). */
unsigned char *content(const char *name, size_t *length);
/* The name of a file of this end: "client" or "server", and this. The next call overwrites it. */
const char *own(const char *suffix);
/* The variable of the peer. */
const char *peers(const char *suffix);
/* Says what failed, and ends the program. */
_Noreturn void fail(const char *what, long code);

/* Defined for each library: opens the session; sends data over it; waits for data. */
void open_session(void);
void write_data(const void *octets, size_t length);
size_t read_data(void *octets, size_t room);

#endif
