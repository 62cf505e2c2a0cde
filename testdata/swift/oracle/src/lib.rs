//! See ../oracle.cpp.
