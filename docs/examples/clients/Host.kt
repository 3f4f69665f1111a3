// A host in Kotlin, on Java 16 or later, whose inferences have votes, sent by `htppower serve`: HostKt [INFERENCES]

import java.io.Closeable
import java.io.IOException
import java.net.UnixDomainSocketAddress
import java.nio.ByteBuffer
import java.nio.channels.SelectionKey
import java.nio.channels.Selector
import java.nio.channels.SocketChannel

fun main(arguments: Array<String>) {
    val inferences = if (arguments.isEmpty()) 30 else arguments[0].toInt()
    var voted = 0
    Votes("Host.kt", "burst", "preview").use { votes ->
        repeat(inferences) {
            votes.inference { has ->
                voted += if (has) 1 else 0
                Thread.sleep(1) // run the graph
            }
        }
    }
    println("$inferences inferences, $voted with votes")
}

/** A connection with one lease, for one inference at a time. Without a service, inferences run without votes. */
class Votes(private val name: String, private val profile: String, private val reason: String) : Closeable {
    private val arrived = ByteBuffer.allocate(65_536)
    private var selector: Selector? = null
    private var channel: SocketChannel? = null
    private var lease = ""
    private var lastId = 0L
    private var lostNs = 0L
    private var lost = false

    /** Runs a block as an inference, and tells it whether its votes are in force. */
    @Synchronized
    fun <T> inference(block: (Boolean) -> T): T {
        val voted = begin()
        try {
            return block(voted)
        } finally {
            if (voted) tried { send("""{"do":"end","lease":$lease,"inference":1}""") }
        }
    }

    /** Disconnects; this ends the lease. */
    @Synchronized
    override fun close() {
        try {
            channel?.close()
            selector?.close()
        } catch (error: IOException) {
            // The connection was lost before.
        }
        channel = null
        selector = null
    }

    private fun begin(): Boolean {
        if (channel == null && lost && System.nanoTime() - lostNs < PAUSE_NS) return false
        return tried {
            if (channel == null) connect()
            ask("begin", """"lease":$lease,"inference":1""")
        }
    }

    private fun connect() {
        val path = System.getenv("HTPPOWER_SOCKET") ?: "/run/htppower/socket"
        val opened = SocketChannel.open(UnixDomainSocketAddress.of(path))
        channel = opened
        opened.configureBlocking(false)
        selector = Selector.open().also { opened.register(it, SelectionKey.OP_READ) }
        arrived.clear()
        ask("hello", """"protocol":1,"name":${quoted(name)}""")
        val answer = ask("hold", """"profile":${quoted(profile)},"reason":${quoted(reason)}""")
        lease = LEASE.find(answer)?.groupValues?.get(1) ?: throw IOException("the answer names no lease")
        lost = false
    }

    /** Sends a message, and returns the line of its answer. */
    private fun ask(verb: String, fields: String): String {
        val id = (++lastId).toString()
        send("""{"do":"$verb","id":$id,$fields}""")
        while (true) {
            val line = line()
            val found = ID.find(line)?.groupValues?.get(1)
            if (found == id || found == null && "\"too many\"" in line) {
                return if (OK.containsMatchIn(line)) line else throw IOException(line)
            }
        }
    }

    private fun send(line: String) {
        val bytes = ByteBuffer.wrap("$line\n".toByteArray())
        channel!!.write(bytes)
        if (bytes.hasRemaining()) throw IOException("the service does not read")
    }

    private fun line(): String {
        val untilNs = System.nanoTime() + TIMEOUT_MS * 1_000_000
        while (true) {
            val end = (0 until arrived.position()).firstOrNull { arrived.get(it) == NEWLINE }
            if (end != null) {
                val line = String(arrived.array(), 0, end)
                arrived.limit(arrived.position()).position(end + 1)
                arrived.compact()
                return line
            }
            val leftMs = (untilNs - System.nanoTime()) / 1_000_000
            if (leftMs <= 0 || selector!!.select(leftMs) == 0) throw IOException("no answer within $TIMEOUT_MS ms")
            selector!!.selectedKeys().clear()
            if (!arrived.hasRemaining() || channel!!.read(arrived) < 0) throw IOException("the service has ended")
        }
    }

    /** Returns whether the block could be done; if not, the connection is lost. */
    private fun tried(block: () -> Unit): Boolean {
        try {
            block()
            return true
        } catch (error: IOException) {
            close()
            if (!lost) System.err.println("no votes: ${error.message}")
            lost = true
            lostNs = System.nanoTime()
            return false
        }
    }

    private companion object {
        const val NEWLINE: Byte = 10
        const val TIMEOUT_MS = 2000L
        const val PAUSE_NS = 1_000_000_000L
        val ID = Regex("\"id\": *(\\d+)")
        val OK = Regex("\"ok\": *true")
        val LEASE = Regex("\"lease\": *(\\d+)")

        fun quoted(text: String) = "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
    }
}
