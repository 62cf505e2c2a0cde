package event

import "github.com/symlake/symlake/formats/report/internal/shape"

// table is the shapes that the package knows. A text may be of several; of an object, the first row that fits it counts.
// Rows without a service stand last: they fit almost any object.
var table = shape.NewTable(
	bugsnag,
	bugsnagNative,
	bugsnagNamed,
	crashlytics,
	crashlyticsManaged,
	crashlyticsNative,
	datadog,
	measure,
	measureDart,
	appCenter,
	raygunApple,
	ksCrash,
	raygun,
	rollbarNode,
	rollbar,
	postHog,
	faro,
	honeybadger,
	airbrake,
	elastic,
	elasticShort,
	sentry,
	stackTraceElements,
	logEvents,
	qualified,
	hermes,
	hermesPlaces,
	callFrames,
	scriptFrames,
)
