/* The floating-point type of the numerical core: float in the program, double in the library that tests hold it against. */
#ifndef BNSWEEP_CORE_REAL_H
#define BNSWEEP_CORE_REAL_H

#ifdef BNSWEEP_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#endif
