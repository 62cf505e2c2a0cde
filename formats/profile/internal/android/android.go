// Package android tells which application a file of Android belongs to, by its path.
package android

import "strings"

// IsFramework reports whether a file is a part of Android itself, which no application's mapping renames.
func IsFramework(p string) bool {
	for _, begin := range []string{"/apex/", "/system/framework/", "/system_ext/framework/", "/product/framework/", "/vendor/framework/"} {
		if strings.HasPrefix(p, begin) {
			return true
		}
	}
	return false
}

// systemPackages are packages of applications that come with a system, by a part of their path. Perfetto has no other way
// to tell them either.
var systemPackages = [...]struct{ part, name string }{
	{"/system_ext/priv-app/SystemUIGoogle/SystemUIGoogle.apk", "com.android.systemui"},
	{"/product/priv-app/Phonesky/Phonesky.apk", "com.android.vending"},
	{"/product/app/Maps/Maps.apk", "com.google.android.apps.maps"},
	{"/system_ext/priv-app/NexusLauncherRelease/NexusLauncherRelease.apk", "com.google.android.apps.nexuslauncher"},
	{"/product/app/Photos/Photos.apk", "com.google.android.apps.photos"},
	{"/system_ext/priv-app/WellbeingPrebuilt/WellbeingPrebuilt.apk", "com.google.android.apps.wellbeing"},
	{"DevicePersonalizationPrebuilt", "com.google.android.as"},
	{"MatchMaker", "com.google.android.as"},
	{"DeviceIntelligenceNetworkPrebuilt", "com.google.android.as.oss"},
	{"SettingsIntelligenceGooglePrebuilt", "com.google.android.settings.intelligence"},
	{"/product/app/PrebuiltGmail/PrebuiltGmail.apk", "com.google.android.gm"},
	{"PrebuiltGmsCore", "com.google.android.gms"},
	{"com.google.android.gms", "com.google.android.gms"},
	{"/product/priv-app/Velvet/Velvet.apk", "com.google.android.googlequicksearchbox"},
	{"/product/app/LatinIMEGooglePrebuilt/LatinIMEGooglePrebuilt.apk", "com.google.android.inputmethod.latin"},
	{"/product/app/PrebuiltBugle/PrebuiltBugle.apk", "com.google.android.apps.messaging"},
}

// PackageOf returns the package that a path names, "" if none:
//
//	/data/app/com.example-1/base.apk
//	/data/app/~~x==/com.example-y==/oat/arm64/base.odex
//	[anon:dalvik-classes.dex extracted in memory from /data/app/com.example-1/base.apk]
func PackageOf(p string) string {
	for _, s := range systemPackages {
		if at := strings.Index(p, s.part); at == 0 || at > 0 && s.part[0] != '/' {
			return s.name
		}
	}
	const apps = "/data/app/"
	rest, ok := strings.CutPrefix(p, apps)
	if !ok {
		if _, rest, ok = strings.Cut(p, "dex extracted in memory from "+apps); !ok {
			return ""
		}
	}
	if strings.HasPrefix(rest, "~") {
		_, rest, _ = strings.Cut(rest, "/")
	}
	rest, _, ok = strings.Cut(rest, "/")
	name, _, cut := strings.Cut(rest, "-")
	if !ok || !cut {
		return ""
	}
	return name
}
