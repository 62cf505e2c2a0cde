package metrics

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/symlake/symlake/jobs/internal/collector"
)

func one(kind, name, help string, value float64, labels ...Label) Family {
	return Family{Name: name, Help: help, Kind: kind, Samples: []Sample{{Labels: labels, Value: value}}}
}

func gauge[T uint64 | int | float64](name, help string, value T) Family {
	return one("gauge", name, help, float64(value))
}

func counter[T uint64 | float64](name, help string, value T) Family {
	return one("counter", name, help, float64(value))
}

// Go returns the state of the Go runtime, by the names and texts of Prometheus's own client library: dashboards know them.
func Go() []Family {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	pauses := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&pauses)
	summary := Family{Name: "go_gc_duration_seconds", Kind: "summary",
		Help: "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles."}
	for i, d := range pauses.PauseQuantiles {
		at := strconv.FormatFloat(float64(i)/float64(len(pauses.PauseQuantiles)-1), 'g', -1, 64)
		summary.Samples = append(summary.Samples, Sample{Labels: []Label{{"quantile", at}}, Value: d.Seconds()})
	}
	summary.Samples = append(summary.Samples, Sample{Suffix: "_sum", Value: pauses.PauseTotal.Seconds()}, Sample{Suffix: "_count", Value: float64(pauses.NumGC)})
	threads, _ := runtime.ThreadCreateProfile(nil)
	return []Family{
		summary,
		gauge("go_gc_gogc_percent", "Heap size target percentage configured by the user, otherwise 100. This value is set by the GOGC environment variable, and the runtime/debug.SetGCPercent function. Sourced from /gc/gogc:percent.", collector.Percent()),
		gauge("go_gc_gomemlimit_bytes", "Go runtime memory limit configured by the user, otherwise math.MaxInt64. This value is set by the GOMEMLIMIT environment variable, and the runtime/debug.SetMemoryLimit function. Sourced from /gc/gomemlimit:bytes.", float64(debug.SetMemoryLimit(-1))),
		gauge("go_goroutines", "Number of goroutines that currently exist.", runtime.NumGoroutine()),
		one("gauge", "go_info", "Information about the Go environment.", 1, Label{"version", runtime.Version()}),
		gauge("go_memstats_alloc_bytes", "Number of bytes allocated in heap and currently in use. Equals to /memory/classes/heap/objects:bytes.", m.Alloc),
		counter("go_memstats_alloc_bytes_total", "Total number of bytes allocated in heap until now, even if released already. Equals to /gc/heap/allocs:bytes.", m.TotalAlloc),
		gauge("go_memstats_buck_hash_sys_bytes", "Number of bytes used by the profiling bucket hash table. Equals to /memory/classes/profiling/buckets:bytes.", m.BuckHashSys),
		counter("go_memstats_frees_total", "Total number of heap objects frees. Equals to /gc/heap/frees:objects + /gc/heap/tiny/allocs:objects.", m.Frees),
		gauge("go_memstats_gc_sys_bytes", "Number of bytes used for garbage collection system metadata. Equals to /memory/classes/metadata/other:bytes.", m.GCSys),
		gauge("go_memstats_heap_alloc_bytes", "Number of heap bytes allocated and currently in use, same as go_memstats_alloc_bytes. Equals to /memory/classes/heap/objects:bytes.", m.HeapAlloc),
		gauge("go_memstats_heap_idle_bytes", "Number of heap bytes waiting to be used. Equals to /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", m.HeapIdle),
		gauge("go_memstats_heap_inuse_bytes", "Number of heap bytes that are in use. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes", m.HeapInuse),
		gauge("go_memstats_heap_objects", "Number of currently allocated objects. Equals to /gc/heap/objects:objects.", m.HeapObjects),
		gauge("go_memstats_heap_released_bytes", "Number of heap bytes released to OS. Equals to /memory/classes/heap/released:bytes.", m.HeapReleased),
		gauge("go_memstats_heap_sys_bytes", "Number of heap bytes obtained from system. Equals to /memory/classes/heap/objects:bytes + /memory/classes/heap/unused:bytes + /memory/classes/heap/released:bytes + /memory/classes/heap/free:bytes.", m.HeapSys),
		counter("go_memstats_mallocs_total", "Total number of heap objects allocated, both live and gc-ed. Semantically a counter version for go_memstats_heap_objects gauge. Equals to /gc/heap/allocs:objects + /gc/heap/tiny/allocs:objects.", m.Mallocs),
		gauge("go_memstats_mcache_inuse_bytes", "Number of bytes in use by mcache structures. Equals to /memory/classes/metadata/mcache/inuse:bytes.", m.MCacheInuse),
		gauge("go_memstats_mcache_sys_bytes", "Number of bytes used for mcache structures obtained from system. Equals to /memory/classes/metadata/mcache/inuse:bytes + /memory/classes/metadata/mcache/free:bytes.", m.MCacheSys),
		gauge("go_memstats_mspan_inuse_bytes", "Number of bytes in use by mspan structures. Equals to /memory/classes/metadata/mspan/inuse:bytes.", m.MSpanInuse),
		gauge("go_memstats_mspan_sys_bytes", "Number of bytes used for mspan structures obtained from system. Equals to /memory/classes/metadata/mspan/inuse:bytes + /memory/classes/metadata/mspan/free:bytes.", m.MSpanSys),
		gauge("go_memstats_next_gc_bytes", "Number of heap bytes when next garbage collection will take place. Equals to /gc/heap/goal:bytes.", m.NextGC),
		gauge("go_memstats_other_sys_bytes", "Number of bytes used for other system allocations. Equals to /memory/classes/other:bytes.", m.OtherSys),
		gauge("go_memstats_stack_inuse_bytes", "Number of bytes obtained from system for stack allocator in non-CGO environments. Equals to /memory/classes/heap/stacks:bytes.", m.StackInuse),
		gauge("go_memstats_stack_sys_bytes", "Number of bytes obtained from system for stack allocator. Equals to /memory/classes/heap/stacks:bytes + /memory/classes/os-stacks:bytes.", m.StackSys),
		gauge("go_memstats_sys_bytes", "Number of bytes obtained from system. Equals to /memory/classes/total:byte.", m.Sys),
		gauge("go_memstats_last_gc_time_seconds", "Number of seconds since 1970 of last garbage collection.", float64(m.LastGC)/1e9),
		gauge("go_sched_gomaxprocs_threads", "The current runtime.GOMAXPROCS setting, or the number of operating system threads that can execute user-level Go code simultaneously. Sourced from /sched/gomaxprocs:threads.", runtime.GOMAXPROCS(0)),
		gauge("go_threads", "Number of OS threads created.", threads),
	}
}
