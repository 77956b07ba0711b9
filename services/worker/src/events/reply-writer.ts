import type { NewEvent } from "@shiftwork/contracts";

export interface ReplyWriterOptions {
  /** Longest a delta waits for company. */
  readonly frameMs: number;
  /** A frame that has grown to this size leaves at once. */
  readonly frameBytes: number;
  /** Writes one batch; false = this attempt may not write any more. */
  readonly append: (events: readonly NewEvent[]) => Promise<boolean>;
  /** Called once, when a batch was refused, which is `null`, or could not be written. */
  readonly onBroken: (error: Error | null) => void;
}

/** Collects what the model streams and writes it to the event log in frames: the first token at once, then by time or size. */
export interface ReplyWriter {
  readonly text: string;
  readonly firstTokenAt: Date | null;
  /** A batch was refused or lost: readers have not seen all of `text`. */
  readonly broken: boolean;
  writeText(delta: string): void;
  writeReasoning(delta: string): void;
  write(event: NewEvent): void;
  /** Writes what is left and waits for it. */
  settle(): Promise<void>;
}

export function createReplyWriter(options: ReplyWriterOptions): ReplyWriter {
  let text = "";
  let firstTokenAt: Date | null = null;
  let frame = "";
  let frameIs: "text" | "reasoning" = "text";
  let pending: NewEvent[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  let broken = false;

  function closeFrame(): void {
    if (frame === "") return;
    pending.push(frameIs === "text" ? textFrame(frame, text.length - frame.length) : reasoningFrame(frame));
    frame = "";
  }

  function addToFrame(kind: typeof frameIs, delta: string): void {
    if (frameIs !== kind) closeFrame();
    frameIs = kind;
    frame += delta;
  }

  function flush(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    closeFrame();
    if (pending.length === 0 || broken) return;
    const batch = pending;
    pending = [];
    writing = writing.then(() => append(batch));
  }

  async function append(batch: readonly NewEvent[]): Promise<void> {
    if (broken) return;
    try {
      if (!(await options.append(batch))) breakOff(null);
    } catch (error) {
      breakOff(error instanceof Error ? error : new Error(String(error)));
    }
  }

  function breakOff(error: Error | null): void {
    broken = true;
    options.onBroken(error);
  }

  function flushSoon(): void {
    timer ??= setTimeout(flush, options.frameMs);
  }

  function flushBySize(): void {
    if (Buffer.byteLength(frame) >= options.frameBytes) flush();
    else flushSoon();
  }

  return {
    get text() {
      return text;
    },
    get firstTokenAt() {
      return firstTokenAt;
    },
    get broken() {
      return broken;
    },
    writeText(delta) {
      addToFrame("text", delta);
      text += delta;
      if (firstTokenAt !== null) return flushBySize();
      firstTokenAt = new Date();
      flush();
    },
    writeReasoning(delta) {
      addToFrame("reasoning", delta);
      flushBySize();
    },
    write(event) {
      closeFrame();
      pending.push(event);
      flushSoon();
    },
    async settle() {
      flush();
      await writing;
    },
  };
}

function textFrame(delta: string, index: number): NewEvent {
  return { type: "message.delta", data: { delta, index } };
}

function reasoningFrame(delta: string): NewEvent {
  return { type: "message.reasoning.delta", data: { delta } };
}
