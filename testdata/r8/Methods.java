import com.android.tools.r8.DiagnosticsHandler;
import com.android.tools.r8.references.MethodReference;
import com.android.tools.r8.references.Reference;
import com.android.tools.r8.references.TypeReference;
import com.android.tools.r8.retrace.ProguardMapProducer;
import com.android.tools.r8.retrace.RetraceStackTraceContext;
import com.android.tools.r8.retrace.RetracedMethodReference;
import com.android.tools.r8.retrace.Retracer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Methods MAPPING: for each line "DESCRIPTOR NAME SIGNATURE LINE,LINE,…" of standard input, what method of the source a
 * call of that method may be, by R8's retrace: the outermost frame at each of its lines, without those that the
 * compiler made; if nothing is left, the method itself.
 */
public class Methods {
  static String text(RetracedMethodReference m) {
    String text = m.getHolderClass().getTypeName() + "." + m.getMethodName();
    if (m.isKnown()) {
      text += m.asKnown().getFormalTypes().stream().map(TypeReference::getTypeName).collect(Collectors.joining(",", "(", ")"));
      text += m.asKnown().isVoid() ? "void" : m.asKnown().getReturnType().getTypeName();
    }
    return text;
  }

  public static void main(String[] args) throws Exception {
    Retracer retracer = Retracer.createDefault(ProguardMapProducer.fromPath(Path.of(args[0])), new DiagnosticsHandler() {});
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    StringBuilder out = new StringBuilder();
    for (String line; (line = in.readLine()) != null; ) {
      String[] f = line.split(" ");
      MethodReference method = Reference.methodFromDescriptor(f[0], f[1], f[2]);
      TreeSet<String> found = new TreeSet<>();
      for (String at : f.length > 3 ? f[3].split(",") : new String[0]) {
        retracer.retraceFrame(RetraceStackTraceContext.empty(), OptionalInt.of(Integer.parseInt(at)), method).stream().forEach(e -> {
          if (e.isUnknown()) return;
          String[] last = new String[1];
          e.forEachRewritten(frame -> last[0] = text(frame.getMethodReference()));
          if (last[0] != null) found.add(last[0]);
        });
      }
      if (found.isEmpty()) {
        retracer.retraceMethod(method).stream().forEach(e -> found.add(text(e.getRetracedMethod())));
      }
      out.append(String.join("|", found)).append('\n');
    }
    System.out.print(out);
  }
}
