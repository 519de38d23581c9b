// Follows the sessions that end: a logout is known within a second, and a request costs a look into a map.
//
// Gatehouse writes to the stream every second. After `maxSilence` without an event the feed is out of date, and a
// stream that falls so far behind is opened again. Otherwise a thief could cut the connection or hold its events
// back, and use a stolen token after the logout.
import { TokenInvalid, Unavailable } from "./errors.js";
import { type OutageLog, reasonOf } from "./outage-log.js";

const RECONNECT_AFTER = 500;
const MAX_EVENT_LENGTH = 64 * 1024;
/** Seconds: the most that a token is accepted after its expiry. */
export const MAX_LEEWAY = 120;

interface FeedOptions {
  url: string;
  serviceKey: string;
  /** Milliseconds. */
  maxSilence: number;
  failOpen: boolean;
  outages: OutageLog;
}

export class EndedSessions {
  private readonly ended = new Map<string, number>(); // session -> when it ended, oldest first
  private position = "";
  private missingBefore = 0;
  private heard = -Infinity;
  private keep = 0; // seconds, only ever raised: older tokens may live longer than newer ones
  private leastLag = Infinity; // seconds between the two clocks, by the fastest event of this connection
  private caughtUp = () => {};
  private connection = new AbortController();
  private closed = false;
  private problem = "it has not been read yet";

  /** Resolves when all that ended so far is known, or after `maxSilence` without it. */
  readonly ready: Promise<void>;

  constructor(private readonly options: FeedOptions) {
    this.ready = new Promise((caughtUp) => {
      this.caughtUp = caughtUp;
      setTimeout(caughtUp, options.maxSilence).unref();
    });
    void this.run();
  }

  get fresh(): boolean {
    return performance.now() - this.heard <= this.options.maxSilence;
  }

  /** Throws `TokenInvalid` if the session has ended, or may have; `Unavailable` if that cannot be known. */
  check(session: string, issued: number): void {
    if (this.ended.has(session)) throw new TokenInvalid("the session has ended");
    if (this.options.failOpen) return;
    if (!this.fresh) throw new Unavailable(`the feed of ended sessions is out of date: ${this.problem}`);
    if (!(issued >= this.missingBefore)) throw new TokenInvalid("the session may have ended: the feed has a gap");
  }

  close(): void {
    this.closed = true;
    this.connection.abort();
  }

  private async run(): Promise<void> {
    while (!this.closed) {
      try {
        await this.follow();
        this.problem = "the stream has ended";
      } catch (problem) {
        this.problem = reasonOf(problem);
      }
      if (!this.fresh && !this.closed) this.options.outages.failed(this.problem);
      await new Promise((resume) => setTimeout(resume, RECONNECT_AFTER));
    }
  }

  private async follow(): Promise<void> {
    const { url, serviceKey, maxSilence } = this.options;
    const connection = (this.connection = new AbortController());
    const { signal } = connection;
    const silence = setTimeout(() => connection.abort(new Error(`silent for ${maxSilence / 1000} s`)), maxSilence);
    try {
      const headers: Record<string, string> = { Authorization: `Bearer ${serviceKey}`, Accept: "text/event-stream" };
      if (this.position) headers["Last-Event-ID"] = this.position;
      const answer = await fetch(this.position ? url : `${url}?after=oldest`, { headers, signal, redirect: "error" });
      if (answer.status === 401) throw new Error("HTTP 401: check the service key");
      if (!answer.ok || !answer.body) throw new Error(`HTTP ${answer.status}`);
      this.leastLag = Infinity;
      let rest = "";
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        const events = (rest + chunk).split("\n\n");
        rest = events.pop() ?? "";
        if (rest.length > MAX_EVENT_LENGTH) throw new Error("an event of the feed is too long");
        for (const event of events) this.take(fields(event));
        silence.refresh();
      }
    } finally {
      clearTimeout(silence);
      connection.abort();
    }
  }

  private take({ event, id = "", data = "{}" }: Record<string, string>): void {
    const { sid, at, missing_before: missingBefore, keep } = JSON.parse(data);
    if (event === "ended") this.ended.set(sid, at);
    if (event === "gap") this.missingBefore = Math.max(this.missingBefore, missingBefore);
    if (event !== "position") return;
    this.refuseLate(at);
    this.keep = Math.max(this.keep, keep);
    this.dropExpired();
    this.position = id;
    this.heard = performance.now();
    this.caughtUp();
    this.options.outages.recovered();
  }

  private refuseLate(sent: number): void {
    const lag = performance.now() / 1000 - sent;
    this.leastLag = Math.min(this.leastLag, lag);
    if (!(lag <= this.leastLag + this.options.maxSilence / 1000)) throw new Error("the feed arrives late");
  }

  private dropExpired(): void {
    const horizon = Date.now() / 1000 - this.keep - MAX_LEEWAY;
    for (const [session, ended] of this.ended) {
      if (ended >= horizon) break;
      this.ended.delete(session);
    }
  }
}

function fields(event: string): Record<string, string> {
  return Object.fromEntries(event.split("\n").map((line) => line.split(/: ?(.*)/, 2)));
}
