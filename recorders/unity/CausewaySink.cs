// Stores what CausewayRecorder records: in a file, or on a Causeway server. MIT licence.
//
// Not run by the tests of Causeway.
using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Http;
using System.Text;
using System.Threading;
using UnityEngine;

/// <summary>Receives batches of lines in order and stores them on a thread of its own.</summary>
abstract class CausewaySink
{
    /// <summary>Batches that wait for a slow disk or server; more are left out, and with them the rest of the run.</summary>
    const int MaxBatches = 256;

    readonly BlockingCollection<byte[]> batches = new BlockingCollection<byte[]>(MaxBatches);
    readonly Thread thread;
    bool hasFailed;

    protected CausewaySink()
    {
        thread = new Thread(Run) { IsBackground = true, Name = "Causeway recorder" };
        thread.Start();
    }

    public void Write(byte[] batch)
    {
        if (!hasFailed && !batches.TryAdd(batch)) Fail("the batches are not stored as fast as they are recorded");
    }

    public void Close()
    {
        batches.CompleteAdding();
        thread.Join(5000);
    }

    protected abstract void Store(byte[] batch);
    protected abstract void Finish();

    void Run()
    {
        try
        {
            foreach (var batch in batches.GetConsumingEnumerable())
                if (!hasFailed) Store(batch);
            if (!hasFailed) Finish();
        }
        catch (Exception error)
        {
            Fail(error.Message);
        }
    }

    void Fail(string reason)
    {
        hasFailed = true;
        Debug.LogWarning("Causeway: the rest of the run is not recorded: " + reason);
    }
}

sealed class CausewayFileSink : CausewaySink
{
    readonly string path;
    FileStream file;

    public CausewayFileSink(string name)
    {
        path = Path.IsPathRooted(name) ? name : Path.Combine(Application.persistentDataPath, name);
        Debug.Log("Causeway: recording to " + path);
    }

    protected override void Store(byte[] batch)
    {
        if (file == null) file = new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read);
        file.Write(batch, 0, batch.Length);
        file.Flush();
    }

    protected override void Finish()
    {
        if (file != null) file.Dispose();
    }
}

sealed class CausewayServerSink : CausewaySink
{
    const int Attempts = 5;
    readonly HttpClient client = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };
    readonly string url;

    public CausewayServerSink(string url)
    {
        this.url = url.TrimEnd('/');
    }

    protected override void Store(byte[] batch) => Post("/frames", batch, "application/x-ndjson");

    protected override void Finish() => Post("/finish", Encoding.UTF8.GetBytes("{}"), "application/json");

    /// <summary>Sends a body, again if the server does not answer: frames that it has stored already are ignored.</summary>
    void Post(string route, byte[] body, string type)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                using (var content = new ByteArrayContent(body))
                {
                    content.Headers.TryAddWithoutValidation("Content-Type", type);
                    var response = client.PostAsync(url + route, content).GetAwaiter().GetResult();
                    if (response.IsSuccessStatusCode) return;
                    var reason = response.Content.ReadAsStringAsync().GetAwaiter().GetResult();
                    // An earlier attempt may still be in progress (409).
                    var isFinal = (int)response.StatusCode < 500 && (int)response.StatusCode != 409;
                    if (isFinal || attempt == Attempts) throw new IOException(reason);
                }
            }
            catch (Exception error) when (!(error is IOException) && attempt < Attempts)
            {
                // The server does not answer.
            }
            Thread.Sleep(250 * attempt);
        }
    }
}
