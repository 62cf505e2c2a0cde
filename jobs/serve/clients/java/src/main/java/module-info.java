/** A client of symlake serve. */
module io.github.symlake.client {
    requires transitive java.net.http;

    exports io.github.symlake.client;
}
