import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A host in Java 16 whose inferences have votes, sent by {@code htppower serve}: java Host.java [INFERENCES]. */
public final class Host {
    public static void main(String[] arguments) throws InterruptedException {
        int inferences = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 30;
        int voted = 0;
        try (Votes votes = new Votes("Host.java", "burst", "preview")) {
            for (int done = 0; done < inferences; done++) {
                voted += votes.begin() ? 1 : 0;
                try {
                    Thread.sleep(1); // run the graph
                } finally {
                    votes.end();
                }
            }
        }
        System.out.println(inferences + " inferences, " + voted + " with votes");
    }
}

/** A connection with one lease, for one inference at a time. Without a service, inferences run without votes. */
final class Votes implements AutoCloseable {
    private static final int TIMEOUT_MS = 2000;
    private static final long PAUSE_NS = 1_000_000_000L;
    private static final Pattern ID = Pattern.compile("\"id\": *(\\d+)");
    private static final Pattern OK = Pattern.compile("\"ok\": *true");
    private static final Pattern LEASE = Pattern.compile("\"lease\": *(\\d+)");

    private final String name;
    private final String request;
    private final ByteBuffer arrived = ByteBuffer.allocate(65_536);
    private Selector selector;
    private SocketChannel channel;
    private String lease = "";
    private long lastId;
    private long lostNs;
    private boolean lost;
    private boolean runs;

    Votes(String name, String profile, String reason) {
        this.name = quoted(name);
        this.request = "\"profile\":" + quoted(profile) + ",\"reason\":" + quoted(reason);
    }

    /** Begins an inference; returns whether its votes are in force. */
    synchronized boolean begin() {
        try {
            if (channel == null && lost && System.nanoTime() - lostNs < PAUSE_NS) {
                return false;
            }
            if (channel == null) {
                connect();
            }
            ask("begin", "\"lease\":" + lease + ",\"inference\":1");
            runs = true;
        } catch (IOException | UnsupportedOperationException error) {
            noVotes(error);
        }
        return runs;
    }

    /** Ends the inference; nothing is waited for. */
    synchronized void end() {
        try {
            if (runs) {
                send("{\"do\":\"end\",\"lease\":" + lease + ",\"inference\":1}\n");
            }
        } catch (IOException error) {
            noVotes(error);
        }
        runs = false;
    }

    /** Disconnects; this ends the lease. */
    @Override
    public synchronized void close() {
        try {
            if (channel != null) {
                channel.close();
            }
            if (selector != null) {
                selector.close();
            }
        } catch (IOException error) {
            // The connection was lost before.
        }
        runs = false;
        channel = null;
        selector = null;
    }

    private void connect() throws IOException {
        String path = System.getenv().getOrDefault("HTPPOWER_SOCKET", "/run/htppower/socket");
        channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
        channel.configureBlocking(false);
        selector = Selector.open();
        channel.register(selector, SelectionKey.OP_READ);
        arrived.clear();
        ask("hello", "\"protocol\":1,\"name\":" + name);
        Matcher found = LEASE.matcher(ask("hold", request));
        if (!found.find()) {
            throw new IOException("the answer names no lease");
        }
        lease = found.group(1);
        lost = false;
    }

    /** Sends a message, and returns the line of its answer. */
    private String ask(String verb, String fields) throws IOException {
        String id = Long.toString(++lastId);
        send("{\"do\":\"" + verb + "\",\"id\":" + id + "," + fields + "}\n");
        while (true) {
            String line = line();
            Matcher found = ID.matcher(line);
            if (found.find() ? found.group(1).equals(id) : line.contains("\"too many\"")) {
                if (!OK.matcher(line).find()) {
                    throw new IOException(line);
                }
                return line;
            }
        }
    }

    private void send(String line) throws IOException {
        ByteBuffer bytes = StandardCharsets.UTF_8.encode(line);
        channel.write(bytes);
        if (bytes.hasRemaining()) {
            throw new IOException("the service does not read");
        }
    }

    private String line() throws IOException {
        long untilNs = System.nanoTime() + TIMEOUT_MS * 1_000_000L;
        while (true) {
            for (int at = 0; at < arrived.position(); at++) {
                if (arrived.get(at) == '\n') {
                    String line = new String(arrived.array(), 0, at, StandardCharsets.UTF_8);
                    arrived.limit(arrived.position()).position(at + 1).compact();
                    return line;
                }
            }
            long leftMs = (untilNs - System.nanoTime()) / 1_000_000L;
            if (leftMs <= 0 || selector.select(leftMs) == 0) {
                throw new IOException("no answer within " + TIMEOUT_MS + " ms");
            }
            selector.selectedKeys().clear();
            if (!arrived.hasRemaining() || channel.read(arrived) < 0) {
                throw new EOFException("the service has ended");
            }
        }
    }

    private void noVotes(Exception error) {
        close();
        if (!lost) {
            System.err.println("no votes: " + error.getMessage());
        }
        lost = true;
        lostNs = System.nanoTime();
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
