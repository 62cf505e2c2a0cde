/**
 * A client of symlake serve: source-level stacks and positions over HTTP, without any other library.
 *
 * <p>Begin with {@link io.github.symlake.client.SymlakeClient}.
 */
package io.github.symlake.client;
