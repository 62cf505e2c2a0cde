// Where a frame's code comes from: the app, a library, or the system. The report does not say it: paths and names do.

const systemPath = /^(\/(system|apex|vendor|product|odm|system_ext|usr\/lib|usr\/lib64|lib|lib64|lib\/x86_64-linux-gnu)\/|\/System\/|\/usr\/lib|\[vdso\]|node:|dart:|org-dartlang-sdk:|\/rustc\/|\/usr\/local\/go\/src\/|\/usr\/lib\/go|[A-Za-z]:\\Windows\\)|\/CoreSimulator\/|\.framework\/Versions\/A\/(CoreFoundation|AppKit|Foundation)/;
const systemImage = /^(libc\.so(\.\d+)?|libm\.so|libdl\.so|libart\.so|libdvm\.so|linker(64)?|libbinder\.so|libutils\.so|libandroid_runtime\.so|libhwui\.so|libgui\.so|libinput\.so|boot.*\.(oat|art)|app_process(32|64)?|ld-linux.*|libpthread.*|dyld(_sim)?|libsystem_.*|libdispatch\.dylib|libobjc.*|libc\+\+(abi)?.*|libswift.*|CoreFoundation|Foundation|UIKit(Core)?|QuartzCore|GraphicsServices|CFNetwork|Security|WebKit|WebCore|JavaScriptCore|CoreData|CoreAnimation|AppKit|SwiftUI|Combine|Metal|AVFoundation|FrontBoardServices|ntdll\.dll|kernel(32|base)\.dll|user32\.dll|ucrtbase\.dll|vdso|linux-vdso.*|<anonymous.*)$/i;
const systemClass = /^(java|javax|sun|jdk|dalvik|libcore|android|com\.android|kotlin|scala|com\.sun)\./;
const libraryClass = /^(androidx|kotlinx|okhttp3|okio|retrofit2|com\.google|com\.facebook|com\.squareup|io\.reactivex|io\.netty|org\.(apache|json|slf4j|jetbrains|chromium|springframework)|dagger|hilt|rx)\./;
const libraryPath = /(^|\/)(node_modules|third[_-]party|vendor|external|Pods|Carthage|\.cargo\/registry|pkg\/mod|\.pub-cache)\/|^package:(flutter|flutter_[a-z]+|collection|async|http|provider|riverpod|bloc)\/|include\/c\+\+\/|libcxx/;
const libraryName = /^(std::|__gnu_cxx::|boost::|absl::|folly::|core::|alloc::|tokio::|runtime\.|net\/http\.)/;

export const origins = { app: 'App', library: 'Library', system: 'System' };

// origin returns app, library or system for a frame as the server answered it.
export function origin(frame) {
  const outer = frame.frames.at(-1);
  const image = frame.image ?? '';
  const java = /^at ([\w$.]+)\.[\w$<>-]+\(/.exec((frame.raw ?? '').trim());
  const name = outer?.function ?? java?.[1] ?? '';
  const file = outer?.file ?? '';
  if (image && (systemPath.test(image) || systemImage.test(base(image)))) return 'system';
  if (systemPath.test(file) || systemClass.test(name)) return 'system';
  if (java && !outer && systemClass.test(java[1] + '.')) return 'system';
  if (outer?.ignored || libraryPath.test(file) || libraryClass.test(name) || libraryName.test(name)) return 'library';
  if (image && libraryPath.test(image)) return 'library';
  return 'app';
}

// base returns the last part of a path, of Unix or Windows.
export function base(path) {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'), path.lastIndexOf('!')) + 1);
}
