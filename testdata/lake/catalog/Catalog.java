import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Map;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * An Iceberg REST catalog for tests: Iceberg's own REST servlet over a catalog in a SQLite file in the folder of the
 * argument. It listens on a free port of the loopback, prints its URL, and ends with its standard input.
 *
 * <p>java -cp 'JARS/*' Catalog.java FOLDER
 */
public class Catalog {
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]).toAbsolutePath();
    JdbcCatalog tables = new JdbcCatalog();
    // SQLite takes one writer at a time.
    Map<String, String> properties = Map.of("uri", "jdbc:sqlite:" + folder.resolve("catalog.db"), "warehouse",
        "file://" + folder.resolve("warehouse"), "jdbc.schema-version", "V1", "clients", "1", "io-impl",
        "org.apache.iceberg.hadoop.HadoopFileIO");
    tables.setConf(new org.apache.hadoop.conf.Configuration());
    tables.initialize("catalog", properties);
    Server server = new Server(new InetSocketAddress("127.0.0.1", 0));
    ServletContextHandler handler = new ServletContextHandler();
    handler.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(tables))), "/*");
    server.setHandler(handler);
    server.start();
    System.out.println("http://127.0.0.1:" + ((ServerConnector) server.getConnectors()[0]).getLocalPort());
    while (System.in.read() >= 0) {}
    server.stop();
    System.exit(0);
  }
}
