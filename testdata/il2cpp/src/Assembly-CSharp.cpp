// A unit as il2cpp writes it: names, marks and shapes are its, the program is ours.
#include "codegen.h"

struct Player_t8C2E4A6F9B1D3E5F7A9C0B2D4E6F8A1C3B5D7E9F { int health; struct Inventory_1_tA1 *items; };
struct Inventory_1_tA1 { int count; int *values; };

IL2CPP_EXTERN_C void Player_Hit_m3F2A1B4C5D6E7F8091A2B3C4D5E6F708192A3B4C(struct Player_t8C2E4A6F9B1D3E5F7A9C0B2D4E6F8A1C3B5D7E9F *__this, int damage, const void *method);
IL2CPP_EXTERN_C int Inventory_1_get_Item_m00112233445566778899AABBCCDDEEFF00112233_gshared(struct Inventory_1_tA1 *__this, int index, const void *method);

static inline __attribute__((always_inline)) int Player_get_Health_m0123456789ABCDEF0123456789ABCDEF01234567_inline(struct Player_t8C2E4A6F9B1D3E5F7A9C0B2D4E6F8A1C3B5D7E9F *__this, const void *method)
{
	{
		//<source_info:/project/Assets/Scripts/Player.cs:9>
		// public int Health => health;
		NullCheck(__this);
		int L_0 = __this->health;
		return L_0;
	}
}

// System.Void Game.Player::Update(System.Single)
IL2CPP_EXTERN_C __attribute__((noinline)) void Player_Update_mBAE6F283CF1BF849003C4A07636457CD26794A4A(struct Player_t8C2E4A6F9B1D3E5F7A9C0B2D4E6F8A1C3B5D7E9F *__this, float delta, const void *method)
{
	int V_0 = 0;
	int V_1 = 0;
	{
		//<source_info:/project/Assets/Scripts/Player.cs:14>
		// var before = Health;
		int L_0 = Player_get_Health_m0123456789ABCDEF0123456789ABCDEF01234567_inline(__this, 0);
		V_0 = L_0;
		//<source_info:/project/Assets/Scripts/Player.cs:15>
		// for (var i = 0; i < items.Count; i++)
		V_1 = 0;
		goto IL_0020;
	}

IL_0010:
	{
		//<source_info:/project/Assets/Scripts/Player.cs:16>
		// Hit(items[i]);
		struct Inventory_1_tA1 *L_1 = __this->items;
		NullCheck(L_1);
		int L_2 = Inventory_1_get_Item_m00112233445566778899AABBCCDDEEFF00112233_gshared(L_1, V_1, 0);
		Player_Hit_m3F2A1B4C5D6E7F8091A2B3C4D5E6F708192A3B4C(__this, L_2, 0);
		//<source_info:/project/Assets/Scripts/Player.cs:15>
		V_1 = V_1 + 1;
	}

IL_0020:
	{
		//<source_info:/project/Assets/Scripts/Player.cs:15>
		NullCheck(__this->items);
		if (V_1 < __this->items->count)
		{
			goto IL_0010;
		}
	}
	{
		//<source_info:/project/Assets/Scripts/Player.cs:17>
		// Log(before - Health);
		Debug_Log(V_0 - Player_get_Health_m0123456789ABCDEF0123456789ABCDEF01234567_inline(__this, 0));
		return;
	}
}

// System.Void Game.Player::Hit(System.Int32)
IL2CPP_EXTERN_C __attribute__((noinline)) void Player_Hit_m3F2A1B4C5D6E7F8091A2B3C4D5E6F708192A3B4C(struct Player_t8C2E4A6F9B1D3E5F7A9C0B2D4E6F8A1C3B5D7E9F *__this, int damage, const void *method)
{
	{
		//<source_info:/project/Assets/Scripts/Player.cs:22>
		// if (damage > health) Die();
		NullCheck(__this);
		if (damage > __this->health)
		{
			//<source_info:/project/Assets/Scripts/Player.cs:23>
			IL2CPP_RAISE();
		}
		//<source_info:/project/Assets/Scripts/Player.cs:24>
		// health -= damage;
		__this->health = __this->health - damage;
		Debug_Log(damage);
		return;
	}
}
