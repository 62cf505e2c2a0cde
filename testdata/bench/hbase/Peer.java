import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.tool.BulkLoadHFilesTool;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Does with HBase's own client what the benchmark does with ours: Peer ROWS [PRINCIPAL KEYTAB]. ROWS holds rows as u16
 * length, row, u32 length, value. A command a line on standard input, an answer a line on standard output:
 *
 * scans TABLE CALLERS EACH   p50 and p99 in ns, scans a second, ns of this process's processor time a scan
 * puts TABLE THREADS         ns, ns of processor time: all rows, with the write-ahead log, 2 MiB a call, and a flush
 * load TABLE DIR             ns, ns of processor time: BulkLoadHFilesTool
 */
public class Peer {
  static final byte[] FAMILY = {'b'}, QUALIFIER = {'v'};
  static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  static byte[][] rows;
  static int[] sizes;
  static Configuration conf;
  static Connection connection;

  public static void main(String[] a) throws Exception {
    conf = HBaseConfiguration.create();
    if (a.length > 1) {
      UserGroupInformation.setConfiguration(conf);
      UserGroupInformation.loginUserFromKeytab(a[1], a[2]);
    }
    List<byte[]> list = new ArrayList<>();
    List<Integer> lengths = new ArrayList<>();
    try (DataInputStream in = open(a[0])) {
      for (int n; (n = in.readUnsignedShort()) > 0;) {
        byte[] row = new byte[n];
        in.readFully(row);
        list.add(row);
        int size = in.readInt();
        in.skipNBytes(size);
        lengths.add(size);
      }
    }
    rows = list.toArray(new byte[0][]);
    sizes = lengths.stream().mapToInt(i -> i).toArray();
    connection = ConnectionFactory.createConnection(conf);
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null;) {
      String[] w = line.split(" ");
      switch (w[0]) {
        case "scans":
          scans(TableName.valueOf(w[1]), Integer.parseInt(w[2]), Integer.parseInt(w[3]));
          break;
        case "puts":
          timed(() -> puts(TableName.valueOf(w[1]), Integer.parseInt(w[2]), a[0]));
          break;
        case "load":
          timed(() -> {
            BulkLoadHFilesTool tool = new BulkLoadHFilesTool(conf);
            if (tool.run(new String[] {w[2], w[1]}) != 0)
              throw new Exception("load of " + w[2]);
          });
          break;
        default:
          throw new Exception(line);
      }
    }
    connection.close();
  }

  static DataInputStream open(String path) throws Exception {
    return new DataInputStream(new BufferedInputStream(new FileInputStream(path), 1 << 20));
  }

  interface Work {
    void run() throws Exception;
  }

  static void timed(Work w) throws Exception {
    long at = System.nanoTime(), cpu = SYSTEM.getProcessCpuTime();
    w.run();
    System.out.println("answer " + (System.nanoTime() - at) + " " + (SYSTEM.getProcessCpuTime() - cpu));
  }

  static void scans(TableName name, int callers, int each) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(callers);
    List<Future<long[]>> parts = new ArrayList<>();
    long at = System.nanoTime(), cpu = SYSTEM.getProcessCpuTime();
    for (int c = 0; c < callers; c++) {
      int seed = c;
      parts.add(pool.submit(() -> {
        Random random = new Random(seed + System.nanoTime());
        long[] took = new long[each];
        try (Table table = connection.getTable(name)) {
          for (int i = 0; i < each; i++) {
            int n = random.nextInt(rows.length);
            long began = System.nanoTime();
            Scan scan = new Scan().withStartRow(rows[n]).withStopRow(Arrays.copyOf(rows[n], rows[n].length + 1))
              .addColumn(FAMILY, QUALIFIER).setLimit(1).setReadType(Scan.ReadType.PREAD);
            try (ResultScanner results = table.getScanner(scan)) {
              Result r = results.next();
              if (r == null || !Arrays.equals(r.getRow(), rows[n]) || r.rawCells()[0].getValueLength() != sizes[n])
                throw new Exception("another row than the one asked for");
            }
            took[i] = System.nanoTime() - began;
          }
        }
        return took;
      }));
    }
    long[] all = new long[callers * each];
    for (int c = 0; c < callers; c++)
      System.arraycopy(parts.get(c).get(), 0, all, c * each, each);
    long took = System.nanoTime() - at, used = SYSTEM.getProcessCpuTime() - cpu;
    pool.shutdown();
    Arrays.sort(all);
    System.out.println("answer " + all[all.length / 2] + " " + all[all.length * 99 / 100] + " " + all.length * 1e9 / took + " " + used / all.length);
  }

  static void puts(TableName name, int threads, String path) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    java.util.concurrent.Semaphore free = new java.util.concurrent.Semaphore(threads);
    List<Future<?>> parts = new ArrayList<>();
    try (Table table = connection.getTable(name); DataInputStream in = open(path)) {
      List<Put> some = new ArrayList<>();
      long bytes = 0;
      for (int n = 0; n >= 0;) {
        n = in.readUnsignedShort();
        if (n > 0) {
          byte[] row = new byte[n];
          in.readFully(row);
          byte[] value = new byte[in.readInt()];
          in.readFully(value);
          some.add(new Put(row, 1).addColumn(FAMILY, QUALIFIER, 1, value).setDurability(Durability.SYNC_WAL));
          bytes += value.length;
        }
        if (bytes >= 2 << 20 || n == 0) {
          List<Put> send = some;
          free.acquire();
          parts.add(pool.submit(() -> {
            try {
              table.put(send);
            } finally {
              free.release();
            }
            return null;
          }));
          some = new ArrayList<>();
          bytes = 0;
        }
        if (n == 0)
          n = -1;
      }
      for (Future<?> f : parts)
        f.get();
    }
    pool.shutdown();
    connection.getAdmin().flush(name);
  }
}
