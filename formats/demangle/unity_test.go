package demangle

import "testing"

func TestUnity(t *testing.T) {
	const hash = "_mBAE6F283CF1BF849003C4A07636457CD26794A4A"
	for linkage, want := range map[string]string{
		"Player_OnHit" + hash:                         "Player.OnHit",
		"Transform_get_position" + hash:               "Transform.get_position",
		"Player_get_Health" + hash + "_inline":        "Player.get_Health",
		"Player__ctor" + hash:                         "Player..ctor",
		"Player__cctor" + hash:                        "Player..cctor",
		"U3CStartU3Ed__5_MoveNext" + hash:             "<Start>d__5.MoveNext",
		"List_1_get_Item" + hash + "_gshared":         "List_1.get_Item",
		"Vector3_op_Addition" + hash + "_inline":      "Vector3.op_Addition",
		"Item_Add" + hash + "_AdjustorThunk":          "Item.Add",
		"My_Type_Do_It" + hash:                        "My_Type_Do_It",
		hash:                                          hash,
		"Player_OnHit_m12":                            "Player_OnHit_m12",
		"Player_OnHit" + hash + "x":                   "Player_OnHit" + hash + "x",
		"main":                                        "main",
		"U3CU3Ec_U3CStartU3Eb__0_0" + hash:            "<>c_<Start>b__0_0",
		"il2cpp_codegen_initialize_runtime_metadata_": "il2cpp_codegen_initialize_runtime_metadata_",
	} {
		if got := Name(linkage); got != want {
			t.Errorf("%s is %s, want %s", linkage, got, want)
		}
	}
}
