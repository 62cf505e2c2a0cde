package all

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

const kernelTrace = "[   16.338551] BUG: KASAN: slab-out-of-bounds in cart_scan+0x2c0/0x340 [cart_core]\n" +
	"[   16.338552] WARNING: CPU: 39 PID: 8844 at fs/cart/state.c:4919 cart_break.cold+0x170/0x190 [cart-fs 0123456789abcdef01234567]\n" +
	"[   16.338553] RIP: 0010:cart_validate+0xc9/0x7e0\n[   16.338553] RAX: ffff888135a30720 RBX: ffff88813a4fd1f8\n[   16.338554] Call Trace:\n[   16.338554]  <TASK>\n" +
	"[   16.338555]  worker_thread+0x1f9/0x3d0\n[   16.338555]  ? kthread_stop+0xf0/0xf0\nMar 11 14:10:08 host kernel: ret_from_fork+0x3a/0x50\npc : cart_step+0x10/0x90\nlr : cart_run+0xd8/0x3dc\n"

// Places of the kernel's traces are return addresses, but for those where the processor stood.
func TestKernel(t *testing.T) {
	want := []string{"cart_core.ko cart_scan+0x2be", "0123456789abcdef01234567,cart-fs.ko cart_break.cold+0x170", "vmlinux cart_validate+0xc9", "vmlinux worker_thread+0x1f7", "vmlinux kthread_stop+0xee",
		"vmlinux ret_from_fork+0x38", "vmlinux cart_step+0x10", "vmlinux cart_run+0xd6"}
	for _, o := range []report.Options{{}, {Artifacts: []string{"6.1.0-debug"}}} {
		s := one(t, kernelTrace, o)
		var got []string
		for _, th := range s.Threads {
			for _, f := range th.Frames {
				got = append(got, fmt.Sprintf("%s %s+%#x", strings.Join(f.Image, ","), f.At.Anchor, f.At.Value))
				if f.Kind != symbol.ELF || f.At.Space != symbol.Anchored {
					t.Errorf("%+v", f)
				}
			}
		}
		expected := strings.Join(want, "\n")
		if o.Artifacts != nil {
			expected = strings.ReplaceAll(expected, "vmlinux", "6.1.0-debug")
		}
		if diff := cmp.Diff(expected, strings.Join(got, "\n")); diff != "" || s.Format() != "kernel" {
			t.Error(s.Format(), diff)
		}
	}
}
