package android

import "testing"

func TestPackageOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/data/app/com.a.b-1/base.apk":                                                            "com.a.b",
		"/data/app/~~x-y==/com.a-z==/oat/arm64/base.odex":                                         "com.a",
		"/[anon:dalvik-classes.dex extracted in memory from /data/app/com.a-1/base.apk]":          "com.a",
		"/[anon:dalvik-classes2.dex extracted in memory from /data/app/~~q==/com.b-1/base.apk!x]": "com.b",
		"/system_ext/priv-app/SystemUIGoogle/SystemUIGoogle.apk":                                  "com.android.systemui",
		"/product/priv-app/PrebuiltGmsCore/PrebuiltGmsCore.apk":                                   "com.google.android.gms",
		"/system/framework/framework.jar":                                                         "",
		"/data/app/":                                                                              "", "/data/app/~": "", "/data/app/x": "", "/data/app/-/": "", "": "",
	} {
		if got := PackageOf(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}
