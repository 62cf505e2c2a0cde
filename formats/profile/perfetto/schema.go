package perfetto

// Numbers of fields, as Perfetto's schema has them.
const (
	tracePacket = 1

	packetFtrace      = 1
	packetProcessTree = 2
	packetTimestamp   = 8
	packetSequence    = 10
	packetTrackEvent  = 11
	packetInterned    = 12
	packetFlags       = 13
	packetClocks      = 6
	packetProfile     = 37
	packetOldCleared  = 41
	packetDropped     = 42
	packetProcess     = 43
	packetThread      = 44
	packetPackages    = 47
	packetCompressed  = 50
	packetStreaming   = 54
	packetHeapGraph   = 56
	packetClock       = 58
	packetDefaults    = 59
	packetDescriptor  = 60
	packetSymbols     = 61
	packetRenamed     = 64
	packetPerfSample  = 66
	packetMachine     = 98
	packetZstd        = 133
	packetStackSample = 135

	flagCleared = 1 // the ids of the sequence begin anew
	flagNeeds   = 2 // the packet means nothing without earlier ones

	internedEventNames = 2
	internedFunctions  = 5
	internedFrames     = 6
	internedStacks     = 7
	internedBuildIDs   = 16
	internedPaths      = 17
	internedSources    = 18
	internedMappings   = 19
	internedLocations  = 28 // UnsymbolizedSourceLocation
	internedViews      = 41 // viewcapture_class_name
	internedTasks      = 48
	internedCounters   = 50

	entryID   = 1 // of all that is interned
	entryText = 2

	mappingBuildID     = 2
	mappingStartOffset = 3
	mappingStart       = 4
	mappingEnd         = 5
	mappingBias        = 6
	mappingPath        = 7
	mappingExactOffset = 8

	frameFunction = 2
	frameMapping  = 3
	frameAddress  = 4
	frameSource   = 5
	frameLine     = 6

	locationMapping = 2
	locationAddress = 3

	stackFrame = 2

	profileStrings   = 1
	profileFrames    = 2
	profileStacks    = 3
	profileMappings  = 4
	profileDump      = 5
	profileContinued = 6

	dumpPID     = 1
	dumpSample  = 2
	dumpHeap    = 11
	heapStack   = 1
	heapAlloc   = 2
	heapFreed   = 3
	heapAllocs  = 5
	heapFrees   = 6
	heapMax     = 8
	heapMaxes   = 9
	samplePID   = 2
	sampleTID   = 3
	sampleStack = 4
	sampleLost  = 17
	sampleEvent = 19

	streamingStack = 1
	streamingDelta = 2

	stackTask           = 1
	stackTaskID         = 2
	stackInline         = 5
	stackStack          = 6
	stackCounter        = 9
	stackCounterID      = 10
	stackWeight         = 11
	counterName         = 2
	counterUnit         = 3
	counterUnitText     = 4
	unitNanoseconds     = 1
	unitBytes           = 4
	defaultsStackSample = 100
	defaultsCounter     = 2
	taskPID             = 2
	taskTID             = 3
	inlineFrame         = 1
	inlineFunction      = 1
	inlineSource        = 2
	inlineLine          = 3

	eventName       = 23
	eventStack      = 56
	eventViews      = 1022 // of Chrome's extension: a dump of Android's views
	viewsActivity   = 1
	activityView    = 2
	viewClass       = 5
	trackName       = 2
	trackProcess    = 3
	trackThread     = 4
	trackStaticName = 10
	trackSystemName = 13

	heapPID       = 1
	heapField     = 4
	heapLocation  = 8
	heapType      = 9
	typeClassName = 3

	symbolsPath    = 1
	symbolsBuildID = 2
	symbolsAddress = 3
	addressAddress = 1
	addressLine    = 2
	lineFunction   = 1
	lineSource     = 2
	lineLine       = 3

	renamedPackage = 1
	renamedVersion = 2
	renamedClass   = 3
	classOld       = 1
	classNew       = 2
	classField     = 3
	classMethod    = 4
	memberOld      = 1
	memberNew      = 2
	memberFirst    = 3
	memberLast     = 4
	memberFrom     = 5
	memberTo       = 6

	packagesPackage = 1
	packageName     = 1
	packageUID      = 2
	packageVersion  = 5

	treeProcess    = 1
	treeThread     = 2
	processPID     = 1
	processCommand = 3
	processUID     = 5
	threadTID      = 1
	threadName     = 2
	threadTGID     = 3

	descriptorPID        = 1
	descriptorTID        = 2
	descriptorThreadName = 5
	descriptorProcess    = 6
	descriptorTime       = 6 // of a ThreadDescriptor, in microseconds

	bundleEvent = 2
	ftracePrint = 3
	printText   = 2
)
