package perfetto

import "github.com/symlake/symlake/formats/internal/protobuf"

// message is a protobuf message in the making.
type message []byte

func (m message) num(number uint32, v uint64) message { return protobuf.AppendNumber(m, number, v) }

func (m message) str(number uint32, v string) message { return protobuf.AppendBytes(m, number, v) }

func (m message) msg(number uint32, v message) message {
	return protobuf.AppendBytes(m, number, []byte(v))
}

// traced is a trace in the making.
type traced []byte

func (t traced) packet(p message) traced { return protobuf.AppendBytes(t, tracePacket, []byte(p)) }

// on is a packet of a sequence.
func on(sequence uint64) message { return message(nil).num(packetSequence, sequence) }

// first is the packet that begins the ids of a sequence.
func first(sequence uint64) message { return on(sequence).num(packetFlags, flagCleared|flagNeeds) }

func next(sequence uint64) message { return on(sequence).num(packetFlags, flagNeeds) }

// text is an interned string.
func text(id uint64, s string) message { return message(nil).num(entryID, id).str(entryText, s) }

// mapped is a mapping of a file.
func mapped(id, buildID, bias, exact, size uint64, path ...uint64) message {
	m := message(nil).num(entryID, id).num(mappingBuildID, buildID)
	if exact > 0 {
		m = m.num(mappingExactOffset, exact)
	}
	m = m.num(mappingStart, 0x7000_0000).num(mappingEnd, 0x7000_0000+size).num(mappingBias, bias)
	for _, p := range path {
		m = m.num(mappingPath, p)
	}
	return m
}

// framed is a frame.
func framed(id, function, mapping, address uint64) message {
	m := message(nil).num(entryID, id)
	if function > 0 {
		m = m.num(frameFunction, function)
	}
	return m.num(frameMapping, mapping).num(frameAddress, address)
}

// stacked is a stack, its outermost frame first.
func stacked(id uint64, frames ...uint64) message {
	m := message(nil).num(entryID, id)
	for _, f := range frames {
		m = m.num(stackFrame, f)
	}
	return m
}

// sampled is a sample of traced_perf.
func sampled(pid, tid, stack uint64) message {
	return message(nil).num(1, 0).num(samplePID, pid).num(sampleTID, tid).num(sampleStack, stack).num(6, 1)
}

const (
	idA = "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67"
	idB = "0123456789ABCDEF0123456789ABCDEF0" // of Chrome
)

// perfTrace is a trace of traced_perf with two libraries and two functions of Java.
func perfTrace() traced {
	interned := message(nil).
		msg(internedBuildIDs, text(1, idA)).msg(internedBuildIDs, text(2, idB)).
		msg(internedPaths, text(1, "data")).msg(internedPaths, text(2, "app")).msg(internedPaths, text(3, "com.example.cart-x==")).
		msg(internedPaths, text(4, "base.apk!libcart.so")).msg(internedPaths, text(5, "/usr/lib/libm.so")).msg(internedPaths, text(6, "base.apk")).
		msg(internedFunctions, text(1, "a.b.c")).msg(internedFunctions, text(2, "cosf")).msg(internedFunctions, text(3, "java.lang.Thread.run")).
		msg(internedFrames, framed(1, 0, 1, 0x1200)).msg(internedFrames, framed(2, 2, 2, 0x40)).msg(internedFrames, framed(3, 1, 3, 0)).
		msg(internedFrames, framed(4, 3, 3, 4)).msg(internedFrames, framed(5, 0, 1, 0x1100)).
		msg(internedStacks, stacked(1, 4, 3, 1)).msg(internedStacks, stacked(2, 4, 5, 2)).
		msg(internedMappings, mapped(1, 1, 0x1000, 0x1000, 0x2000, 1, 2, 3, 4)).msg(internedMappings, mapped(2, 2, 0, 0, 0x1000, 5)).
		msg(internedMappings, mapped(3, 0, 0, 0, 0x1000, 1, 2, 3, 6))
	var t traced
	t = t.packet(message(nil).msg(packetPackages, message(nil).msg(packagesPackage, message(nil).str(packageName, "com.example.cart").num(packageUID, 10123).num(packageVersion, 42))))
	t = t.packet(first(7).num(packetTimestamp, 1000).msg(packetInterned, interned).msg(packetPerfSample, sampled(90, 91, 1)))
	t = t.packet(next(7).num(packetTimestamp, 2000).msg(packetPerfSample, sampled(90, 92, 2)))
	return t.packet(next(7).num(packetTimestamp, 3000).msg(packetPerfSample, sampled(90, 92, 1)))
}

// heapTrace is a trace of heapprofd: of Android 10 with tables in its packets, then a newer one with two dumps.
func heapTrace() traced {
	dump := func(pid, stack, alloc, freed, allocs, frees uint64) message {
		h := message(nil).num(heapStack, stack).num(heapAlloc, alloc).num(heapFreed, freed).num(heapAllocs, allocs).num(heapFrees, frees)
		return message(nil).num(dumpPID, pid).str(dumpHeap, "libc.malloc").msg(dumpSample, h)
	}
	old := message(nil).msg(profileStrings, text(1, idA)).msg(profileStrings, text(2, "libcart.so")).
		msg(profileFrames, framed(1, 0, 1, 0x1200)).msg(profileFrames, framed(2, 0, 1, 0x1300)).msg(profileStacks, stacked(1, 1, 2)).
		msg(profileMappings, mapped(1, 1, 0, 0, 0x2000, 2)).num(profileContinued, 1)
	var t traced
	t = t.packet(on(3).num(packetTimestamp, 5).msg(packetProfile, old))
	t = t.packet(on(3).num(packetTimestamp, 6).msg(packetProfile, message(nil).msg(profileDump, dump(5, 1, 100, 40, 2, 1))))
	interned := message(nil).msg(internedBuildIDs, text(1, idA)).msg(internedPaths, text(1, "libcart.so")).
		msg(internedMappings, mapped(1, 1, 0, 0, 0x2000, 1)).msg(internedFrames, framed(1, 0, 1, 0x1400)).msg(internedStacks, stacked(1, 1))
	t = t.packet(first(4).num(packetTimestamp, 7).msg(packetInterned, interned).msg(packetProfile, message(nil).msg(profileDump, dump(6, 1, 10, 0, 1, 0))))
	return t.packet(next(4).num(packetTimestamp, 9).msg(packetProfile, message(nil).msg(profileDump, dump(6, 1, 30, 10, 3, 1))))
}

// otherTrace is a trace of Chrome's sampler, of samples of any profiler, and of events with stacks and places of code.
func otherTrace() traced {
	interned := message(nil).msg(internedBuildIDs, text(1, idB)).msg(internedPaths, text(1, "/opt/chrome/chrome")).
		msg(internedMappings, mapped(1, 1, 0, 0, 0, 1)).msg(internedFrames, framed(1, 0, 1, 0x1400)).msg(internedFrames, framed(2, 0, 1, 0x1500)).
		msg(internedStacks, stacked(1, 1)).msg(internedStacks, stacked(2, 1, 2)).
		msg(internedLocations, message(nil).num(entryID, 1).num(locationMapping, 1).num(locationAddress, 0x1600)).
		msg(internedTasks, message(nil).num(entryID, 3).num(taskPID, 8).num(taskTID, 9)).
		msg(internedCounters, message(nil).num(entryID, 2).str(counterName, "wall").num(counterUnit, unitNanoseconds))
	inline := message(nil).msg(inlineFrame, message(nil).str(inlineFunction, "main").str(inlineSource, "a.py").num(inlineLine, 3))
	var t traced
	t = t.packet(first(5).msg(packetInterned, interned).msg(packetThread, message(nil).num(descriptorPID, 8).num(descriptorTID, 9).num(descriptorTime, 1000).str(descriptorThreadName, "CrRendererMain")))
	t = t.packet(next(5).msg(packetStreaming, message(nil).num(streamingStack, 1).num(streamingStack, 2).num(streamingDelta, 10).num(streamingDelta, 20)))
	t = t.packet(next(5).num(packetTimestamp, 4000000).msg(packetStackSample, message(nil).num(stackTaskID, 3).num(stackStack, 2).num(stackCounterID, 2).num(stackWeight, 70)))
	t = t.packet(next(5).num(packetTimestamp, 5000000).msg(packetStackSample, message(nil).msg(stackTask, message(nil).num(taskPID, 8)).msg(stackInline, inline)))
	return t.packet(next(5).num(packetTimestamp, 6000000).msg(packetTrackEvent, message(nil).str(eventName, "inflate a.b.View").num(eventStack, 1)))
}
