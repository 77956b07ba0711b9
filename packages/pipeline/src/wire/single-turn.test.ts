import { expect, it } from "vitest";
import { singleTurnRequest } from "./single-turn.ts";

const call = { model: "m", text: "Sum up.", maxTokens: 200 };

it("one turn is one message, or one turn and the opened reply in text mode", () => {
  expect(singleTurnRequest({ ...call, wire: { shape: "chat" } })).toMatchObject({
    model: "m",
    max_tokens: 200,
    messages: [{ role: "user", content: "Sum up." }],
  });
  expect(singleTurnRequest({ ...call, wire: { shape: "text", format: "chatml" } })).toMatchObject({
    prompt: "<|im_start|>user\nSum up.<|im_end|>\n<|im_start|>assistant\n",
    max_tokens: 200,
  });
});
