package demangle

import "testing"

func TestShort(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"":                                 "",
		"main":                             "main",
		"_ZN4shop3addIiEEiT_":              "shop::add",
		"_ZN4shop4CartC2ERKS0_":            "shop::Cart::Cart",
		"__ZN4shop4Cart3addEi":             "shop::Cart::add",
		"_RNvNtCs1234_4shop4cart3add":      "shop::cart::add",
		"_ZN4shop3add17h0123456789abcdefE": "shop::add",
		"$s4shop4CartC3addyyF":             "Cart.add()",
		"_Z":                               "_Z",
		"main.(*Cart).Add":                 "main.(*Cart).Add",
		"main.Map[go.shape.int]":           "main.Map[go.shape.int]",
		"com.shop.Cart.<init>":             "com.shop.Cart.<init>",
		"<T as shop::Add>::add":            "<T as shop::Add>::add",
		"(anonymous namespace)::Tree<unsigned int, Less<unsigned int> >::find": "(anonymous namespace)::Tree::find",
		"std::__invoke_impl<void, main(int, char**)::<lambda()> >":             "std::__invoke_impl",
		"main::(anonymous struct)::operator()":                                 "main::(anonymous struct)::operator()",
		"shop::operator<":                                                      "shop::operator<",
		"shop::operator<=":                                                     "shop::operator<=",
		"shop::Cart::operator<< <int>":                                         "shop::Cart::operator<< <int>",
		"shop::Cart::operator->":                                               "shop::Cart::operator->",
		"shop::Cart::add(int)":                                                 "shop::Cart::add",
		"core::ptr::drop_in_place<alloc::string::String>":                      "core::ptr::drop_in_place",
		"a<b":    "a<b",
		"a::b<c": "a::b<c",
	} {
		if got := Short(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
