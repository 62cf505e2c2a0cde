#include "codegen.h"

struct Inventory_1_tA1 { int count; int *values; };

// T Game.Inventory`1<System.Int32>::get_Item(System.Int32)
IL2CPP_EXTERN_C __attribute__((noinline)) int Inventory_1_get_Item_m00112233445566778899AABBCCDDEEFF00112233_gshared(struct Inventory_1_tA1 *__this, int index, const void *method)
{
	{
		//<source_info:/project/Assets/Scripts/Inventory.cs:31>
		// if (index >= count) throw new IndexOutOfRangeException();
		NullCheck(__this);
		if (index >= __this->count)
		{
			IL2CPP_RAISE();
		}
		//<source_info:/project/Assets/Scripts/Inventory.cs:32>
		// return values[index];
		int *L_0 = __this->values;
		NullCheck(L_0);
		return L_0[index];
	}
}

// A function of the runtime: it has no C#.
IL2CPP_EXTERN_C __attribute__((noinline)) void Debug_Log(int value)
{
	volatile int sink = value;
	(void)sink;
}
