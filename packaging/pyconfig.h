/* What Python's headers ask of a system, for the modules that `make release` compiles on one machine for all.
 * It stands in for the pyconfig.h of this machine's Python. All Pythons agree: no debugging, with the
 * interpreter's lock. */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define HAVE_DYNAMIC_LOADING 1
#define HAVE_STDARG_PROTOTYPES 1
#define HAVE_STDDEF_H 1
#define HAVE_STDINT_H 1
#define HAVE_WCHAR_H 1
#define STDC_HEADERS 1
#define WITH_DOC_STRINGS 1
#define WITH_THREAD 1

#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_LONG_DOUBLE __SIZEOF_LONG_DOUBLE__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_UINTPTR_T __SIZEOF_POINTER__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF__BOOL 1
#define SIZEOF_FPOS_T 8
#define SIZEOF_TIME_T 8
#define DOUBLE_IS_LITTLE_ENDIAN_IEEE754 1

#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN32 1
#define MS_WIN64 1
#define NT_THREADS 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1
#define SIZEOF_OFF_T 4
#define SIZEOF_PID_T 4
#else
#define _GNU_SOURCE 1 /* the clocks of POSIX, also where the compiler was asked for C alone */
#define _DARWIN_C_SOURCE 1
#define HAVE_SSIZE_T 1
#define HAVE_PTHREAD_H 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define SIZEOF_OFF_T 8
#define SIZEOF_PID_T 4
#endif

#endif
