// A host in C# whose inferences have votes, sent by `htppower serve`: Host.exe [INFERENCES]
using System;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

public static class Host
{
    public static void Main(string[] arguments)
    {
        int inferences = arguments.Length > 0 ? int.Parse(arguments[0]) : 30;
        int voted = 0;
        using (var votes = new Votes("Host.cs", "burst", "preview"))
        {
            for (int done = 0; done < inferences; done++)
            {
                voted += votes.Begin() ? 1 : 0;
                try
                {
                    Thread.Sleep(1); // run the graph
                }
                finally
                {
                    votes.End();
                }
            }
        }
        Console.WriteLine($"{inferences} inferences, {voted} with votes");
    }
}

/// <summary>A connection with one lease, for one inference at a time. Without a service there are no votes.</summary>
public sealed class Votes : IDisposable
{
    private const int TimeoutMs = 2000;
    private const int PauseMs = 1000;
    private readonly string name;
    private readonly string request;
    private readonly byte[] data = new byte[65536];
    private int arrived;
    private Stream stream;
    private string lease = "";
    private long lastId;
    private Stopwatch lost;
    private bool runs;

    public Votes(string name, string profile, string reason)
    {
        this.name = Quoted(name);
        request = $"\"profile\":{Quoted(profile)},\"reason\":{Quoted(reason)}";
    }

    /// <summary>Begins an inference; returns whether its votes are in force.</summary>
    public bool Begin()
    {
        if (stream == null && lost != null && lost.ElapsedMilliseconds < PauseMs) return false;
        runs = Tried(() =>
        {
            if (stream == null) Connect();
            Ask("begin", $"\"lease\":{lease},\"inference\":1");
        });
        return runs;
    }

    /// <summary>Ends the inference; nothing is waited for.</summary>
    public void End()
    {
        if (runs) Tried(() => Send($"{{\"do\":\"end\",\"lease\":{lease},\"inference\":1}}"));
        runs = false;
    }

    /// <summary>Disconnects; this ends the lease.</summary>
    public void Dispose()
    {
        stream?.Dispose();
        stream = null;
    }

    private void Connect()
    {
        stream = Opened(Environment.GetEnvironmentVariable("HTPPOWER_SOCKET"));
        arrived = 0;
        Ask("hello", $"\"protocol\":1,\"name\":{name}");
        Match found = Regex.Match(Ask("hold", request), "\"lease\": *([0-9]+)");
        if (!found.Success) throw new IOException("the answer names no lease");
        lease = found.Groups[1].Value;
        lost = null;
    }

    private static Stream Opened(string path)
    {
        if (Environment.OSVersion.Platform == PlatformID.Win32NT)
        {
            string pipe = (path ?? @"\\.\pipe\htppower").Replace(@"\\.\pipe\", "");
            var client = new NamedPipeClientStream(".", pipe, PipeDirection.InOut, PipeOptions.Asynchronous);
            client.Connect(TimeoutMs);
            return client;
        }
        var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        socket.Connect(new UnixDomainSocketEndPoint(path ?? "/run/htppower/socket"));
        return new NetworkStream(socket, true);
    }

    // Sends a message, and returns the line of its answer.
    private string Ask(string verb, string fields)
    {
        string id = (++lastId).ToString();
        Send($"{{\"do\":\"{verb}\",\"id\":{id},{fields}}}");
        while (true)
        {
            string line = Line();
            Match found = Regex.Match(line, "\"id\": *([0-9]+)");
            if (found.Success ? found.Groups[1].Value != id : !line.Contains("\"too many\"")) continue;
            if (!Regex.IsMatch(line, "\"ok\": *true")) throw new IOException(line);
            return line;
        }
    }

    private void Send(string line)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(line + "\n");
        bool sent = stream.WriteAsync(bytes, 0, bytes.Length).Wait(TimeoutMs);
        if (!sent) throw new IOException("the service does not read");
    }

    private string Line()
    {
        var waited = Stopwatch.StartNew();
        while (true)
        {
            int end = Array.IndexOf(data, (byte)'\n', 0, arrived);
            if (end >= 0)
            {
                string line = Encoding.UTF8.GetString(data, 0, end);
                arrived -= end + 1;
                Array.Copy(data, end + 1, data, 0, arrived);
                return line;
            }
            Task<int> reading = stream.ReadAsync(data, arrived, data.Length - arrived);
            int leftMs = TimeoutMs - (int)waited.ElapsedMilliseconds;
            if (leftMs <= 0 || !reading.Wait(leftMs)) throw new IOException($"no answer within {TimeoutMs} ms");
            if (reading.Result == 0) throw new IOException("the service has ended");
            arrived += reading.Result;
        }
    }

    // Returns whether it could be done; if not, the connection is lost.
    private bool Tried(Action action)
    {
        try
        {
            action();
            return true;
        }
        catch (Exception error) when (
            error is IOException || error is SocketException || error is AggregateException || error is TimeoutException)
        {
            Dispose();
            if (lost == null) Console.Error.WriteLine($"no votes: {error.GetBaseException().Message}");
            lost = Stopwatch.StartNew();
            return false;
        }
    }

    private static string Quoted(string text)
    {
        return "\"" + text.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";
    }
}
