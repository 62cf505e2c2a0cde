package apple

import (
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
)

// readAppleJSON reads .ips reports (the body; their first line, a JSON value of
// its own, is text) and KSCrash's reports.
func readAppleJSON(text []byte, o report.Options) *report.Report {
	j := &json.Walker{Bytes: text}
	r := &crash.Loaded{Form: appleIPS}
	crashed := false
	based := false // an image says where it was loaded: other services have lists of the same name
	j.Object(func(key string) {
		switch key {
		case "cpuType":
			r.Arch = report.AppleArch(j.Text())
		case "osVersion":
			j.Object(func(key string) {
				if key == "train" {
					r.OS = j.Text()
				}
			})
		case "usedImages":
			j.Array(func(int) { readUsedImage(r, j, &based) })
		case "threads":
			j.Array(func(i int) { ipsThread(r, j, uint64(i)) })
		case "lastExceptionBacktrace":
			t := crash.LoadedThread{Name: "Last Exception Backtrace", Returns: true}
			j.Array(func(int) { ipsFrame(r, j, &t) })
			r.Threads = append(r.Threads, t)
		case "binary_images":
			j.Array(func(int) { kscrashImage(r, j, &based) })
		case "system":
			kscrashSystem(r, j)
		case "crash":
			crashed = true
			kscrashCrash(r, j)
		case "recrash_report": // the handler itself crashed: what it saw of that
			j.Object(func(key string) {
				if key == "crash" {
					kscrashCrash(r, j)
				}
			})
		}
	})
	if j.Broken() || !based {
		return nil
	}
	if crashed {
		r.Form = kscrash
	}
	return r.Report(text, o)
}

func readUsedImage(r *crash.Loaded, j *json.Walker, some *bool) {
	var img crash.Image
	var size uint64
	based := false
	j.Object(func(key string) {
		switch key {
		case "base":
			based = true
			img.Start = j.Number()
		case "size":
			size = j.Number()
		case "uuid":
			s := j.Text()
			img.UUID, _, _ = scan.UUID([]byte(s), 0)
		case "path":
			img.Path = j.Text()
		case "name":
			img.Name = j.Text()
		case "arch":
			img.Arch = report.AppleArch(j.Text())
		}
	})
	if size > 0 && img.Start+size > img.Start {
		img.End = img.Start + size
	}
	r.Images = append(r.Images, img)
	*some = *some || based
}

func ipsThread(r *crash.Loaded, j *json.Walker, number uint64) {
	t := crash.LoadedThread{ID: number}
	j.Object(func(key string) {
		switch key {
		case "id":
			t.ID = j.Number()
		case "triggered":
			t.Crashed = j.IsTrue()
		case "name":
			t.Name = j.Text()
		case "queue":
			if q := j.Text(); t.Name == "" {
				t.Name = q
			}
		case "frames":
			j.Array(func(int) { ipsFrame(r, j, &t) })
		}
	})
	r.Threads = append(r.Threads, t)
}

func ipsFrame(r *crash.Loaded, j *json.Walker, t *crash.LoadedThread) {
	f := crash.LoadedFrame{Image: -1, Number: -1}
	inlined, placed := false, false
	j.Peek()
	f.Span[0] = j.Pos
	j.Object(func(key string) {
		switch key {
		case "imageOffset":
			placed = true
			f.Offset = j.Number()
		case "imageIndex":
			f.Image = int(min(j.Number(), 1<<30))
		case "inline":
			inlined = j.IsTrue()
		}
	})
	f.Span[1] = j.Pos
	if !j.Failed && placed {
		t.Object(f, inlined)
	}
}

func kscrashImage(r *crash.Loaded, j *json.Walker, some *bool) {
	var img crash.Image
	var size, cpu, subtype uint64
	j.Object(func(key string) {
		switch key {
		case "image_addr":
			*some = true
			img.Start = j.Number()
		case "image_size":
			size = j.Number()
		case "name":
			img.Path = j.Text()
		case "uuid":
			s := j.Text()
			img.UUID, _, _ = scan.UUID([]byte(s), 0)
		case "cpu_type":
			cpu = j.Number()
		case "cpu_subtype":
			subtype = j.Number()
		}
	})
	img.Name = string(scan.Base([]byte(img.Path)))
	img.Arch = cpuArch(uint32(cpu), uint32(subtype))
	if size > 0 && img.Start+size > img.Start {
		img.End = img.Start + size
	}
	r.Images = append(r.Images, img)
}

// cpuArch names a kind of processor by the numbers of mach/machine.h.
func cpuArch(cpu, subtype uint32) string {
	subtype &= 0xffffff
	switch cpu {
	case 7:
		return "x86"
	case 7 | 1<<24:
		return "x86_64"
	case 12 | 1<<24:
		if subtype == 2 {
			return "arm64e"
		}
		return "arm64"
	case 12 | 1<<25:
		return "arm64_32"
	case 12:
		switch subtype {
		case 6:
			return "armv6"
		case 9:
			return "armv7"
		case 11:
			return "armv7s"
		case 12:
			return "armv7k"
		}
		return "arm"
	}
	return ""
}

func kscrashSystem(r *crash.Loaded, j *json.Walker) {
	j.Object(func(key string) {
		switch key {
		case "cpu_arch":
			r.Arch = report.AppleArch(j.Text())
		case "system_name":
			r.OS = j.Text()
		}
	})
}

// kscrashCrash reads the threads. The backtrace of an exception is a list of
// return addresses, which stands in place of the crashed thread's.
func kscrashCrash(r *crash.Loaded, j *json.Walker) {
	exception := false
	crashed := -1
	j.Object(func(key string) {
		switch key {
		case "error":
			j.Object(func(key string) {
				if key == "type" {
					kind := j.Text()
					exception = kind == "nsexception" || kind == "cpp_exception"
				}
			})
		case "crashed_thread":
			kscrashThread(r, j)
			r.Threads[len(r.Threads)-1].Crashed = true
		case "threads":
			j.Array(func(int) {
				if kscrashThread(r, j) {
					crashed = len(r.Threads) - 1
				}
			})
		}
	})
	if exception && crashed >= 0 {
		r.Threads[crashed].Returns = true
	}
}

func kscrashThread(r *crash.Loaded, j *json.Walker) (crashed bool) {
	var t crash.LoadedThread
	j.Object(func(key string) {
		switch key {
		case "index":
			t.ID = j.Number()
		case "name":
			t.Name = j.Text()
		case "crashed":
			crashed = j.IsTrue()
		case "backtrace":
			j.Object(func(key string) {
				if key == "contents" {
					j.Array(func(int) { kscrashFrame(r, j, &t) })
				}
			})
		}
	})
	t.Crashed = crashed
	r.Threads = append(r.Threads, t)
	return crashed
}

func kscrashFrame(r *crash.Loaded, j *json.Walker, t *crash.LoadedThread) {
	f := crash.LoadedFrame{Image: -1, Number: -1}
	inlined, placed := false, false
	j.Peek()
	f.Span[0] = j.Pos
	j.Object(func(key string) {
		switch key {
		case "inline":
			inlined = j.IsTrue()
		case "instruction_addr":
			placed = true
			f.Addr = j.Number()
		case "object_addr":
			f.Load = j.Number()
		case "object_name":
			f.Name = []byte(j.Text())
		}
	})
	f.Span[1] = j.Pos
	f.Based = f.Load != 0
	if !j.Failed && placed {
		t.Object(f, inlined)
	}
}

var (
	ipsKeys     = crash.Keys{Function: "symbol", File: "sourceFile", Line: "sourceLine", Gone: "symbolLocation"}
	kscrashKeys = crash.Keys{Function: "symbol_name", File: "source_file", Line: "source_line", Gone: "symbol_addr"}
)
