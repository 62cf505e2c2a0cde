package report

import (
	"github.com/symlake/symlake/formats/internal/scan"
)

// readAppleJSON reads .ips reports (the body; their first line, a JSON value of
// its own, is text) and KSCrash's reports.
func readAppleJSON(text []byte, o Options) *Report {
	j := &jsonText{b: text}
	r := &appleReport{form: appleIPS}
	crash := false
	j.object(func(key string) {
		switch key {
		case "cpuType":
			r.arch = AppleArch(j.text())
		case "osVersion":
			j.object(func(key string) {
				if key == "train" {
					r.system = j.text()
				}
			})
		case "usedImages":
			j.array(func(int) { readUsedImage(r, j) })
		case "threads":
			j.array(func(i int) { ipsThread(r, j, uint64(i)) })
		case "lastExceptionBacktrace":
			t := appleThread{name: "Last Exception Backtrace", returns: true}
			j.array(func(int) { ipsFrame(r, j, &t) })
			r.threads = append(r.threads, t)
		case "binary_images":
			j.array(func(int) { kscrashImage(r, j) })
		case "system":
			kscrashSystem(r, j)
		case "crash":
			crash = true
			kscrashCrash(r, j)
		case "recrash_report": // the handler itself crashed: what it saw of that
			j.object(func(key string) {
				if key == "crash" {
					kscrashCrash(r, j)
				}
			})
		}
	})
	if j.broken() || len(r.images) == 0 {
		return nil
	}
	if crash {
		r.form = kscrash
	}
	return r.stack(text, o)
}

func readUsedImage(r *appleReport, j *jsonText) {
	var img appleImage
	var size uint64
	j.object(func(key string) {
		switch key {
		case "base":
			img.start = j.number()
		case "size":
			size = j.number()
		case "uuid":
			s := j.text()
			img.uuid, _, _ = scan.UUID([]byte(s), 0)
		case "path":
			img.path = j.text()
		case "name":
			img.name = j.text()
		case "arch":
			img.arch = AppleArch(j.text())
		}
	})
	if size > 0 && img.start+size > img.start {
		img.end = img.start + size
	}
	r.images = append(r.images, img)
}

func ipsThread(r *appleReport, j *jsonText, number uint64) {
	t := appleThread{id: number}
	j.object(func(key string) {
		switch key {
		case "id":
			t.id = j.number()
		case "name":
			t.name = j.text()
		case "queue":
			if q := j.text(); t.name == "" {
				t.name = q
			}
		case "frames":
			j.array(func(int) { ipsFrame(r, j, &t) })
		}
	})
	r.threads = append(r.threads, t)
}

func ipsFrame(r *appleReport, j *jsonText, t *appleThread) {
	f := appleFrame{image: -1, number: -1}
	inlined := false
	j.peek()
	f.span[0] = j.p
	j.object(func(key string) {
		switch key {
		case "imageOffset":
			f.offset = j.number()
		case "imageIndex":
			f.image = int(min(j.number(), 1<<30))
		case "inline":
			inlined = j.isTrue()
		}
	})
	f.span[1] = j.p
	if !j.bad {
		t.object(f, inlined)
	}
}

func kscrashImage(r *appleReport, j *jsonText) {
	var img appleImage
	var size, cpu, subtype uint64
	j.object(func(key string) {
		switch key {
		case "image_addr":
			img.start = j.number()
		case "image_size":
			size = j.number()
		case "name":
			img.path = j.text()
		case "uuid":
			s := j.text()
			img.uuid, _, _ = scan.UUID([]byte(s), 0)
		case "cpu_type":
			cpu = j.number()
		case "cpu_subtype":
			subtype = j.number()
		}
	})
	img.name = string(scan.Base([]byte(img.path)))
	img.arch = cpuArch(uint32(cpu), uint32(subtype))
	if size > 0 && img.start+size > img.start {
		img.end = img.start + size
	}
	r.images = append(r.images, img)
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

func kscrashSystem(r *appleReport, j *jsonText) {
	j.object(func(key string) {
		switch key {
		case "cpu_arch":
			r.arch = AppleArch(j.text())
		case "system_name":
			r.system = j.text()
		}
	})
}

// kscrashCrash reads the threads. The backtrace of an exception is a list of
// return addresses, which stands in place of the crashed thread's.
func kscrashCrash(r *appleReport, j *jsonText) {
	exception := false
	crashed := -1
	j.object(func(key string) {
		switch key {
		case "error":
			j.object(func(key string) {
				if key == "type" {
					kind := j.text()
					exception = kind == "nsexception" || kind == "cpp_exception"
				}
			})
		case "crashed_thread":
			kscrashThread(r, j)
		case "threads":
			j.array(func(int) {
				if kscrashThread(r, j) {
					crashed = len(r.threads) - 1
				}
			})
		}
	})
	if exception && crashed >= 0 {
		r.threads[crashed].returns = true
	}
}

func kscrashThread(r *appleReport, j *jsonText) (crashed bool) {
	var t appleThread
	j.object(func(key string) {
		switch key {
		case "index":
			t.id = j.number()
		case "name":
			t.name = j.text()
		case "crashed":
			crashed = j.isTrue()
		case "backtrace":
			j.object(func(key string) {
				if key == "contents" {
					j.array(func(int) { kscrashFrame(r, j, &t) })
				}
			})
		}
	})
	r.threads = append(r.threads, t)
	return crashed
}

func kscrashFrame(r *appleReport, j *jsonText, t *appleThread) {
	f := appleFrame{image: -1, number: -1}
	inlined := false
	j.peek()
	f.span[0] = j.p
	j.object(func(key string) {
		switch key {
		case "inline":
			inlined = j.isTrue()
		case "instruction_addr":
			f.addr = j.number()
		case "object_addr":
			f.load = j.number()
		case "object_name":
			f.name = []byte(j.text())
		}
	})
	f.span[1] = j.p
	f.based = f.load != 0
	if !j.bad {
		t.object(f, inlined)
	}
}

var (
	ipsKeys     = frameKeys{"symbol", "sourceFile", "sourceLine", "symbolLocation"}
	kscrashKeys = frameKeys{"symbol_name", "source_file", "source_line", "symbol_addr"}
)
