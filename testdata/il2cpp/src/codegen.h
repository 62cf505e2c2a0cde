#pragma once
#define IL2CPP_EXTERN_C extern "C"
#define IL2CPP_RAISE() __builtin_trap()
IL2CPP_EXTERN_C void Debug_Log(int value);
static inline __attribute__((always_inline)) void NullCheck(const void *p)
{
	if (!p)
		IL2CPP_RAISE();
}
