// An interceptor: e-mail addresses in the history do not leave for the model. Use it with
// PLUGINS=./examples/plugins/hide-addresses.mjs; it then runs for every prompt, previews included.

const ADDRESS = /[\w.+-]+@[\w-]+(\.[\w-]+)+/g;

/** @type {import("@shiftwork/pipeline").Interceptor} */
const hideAddresses = {
  id: "hide-addresses",
  priority: 0,
  // The current input, system texts and pinned messages are protected: what is changed there, the host takes back.
  intercept: (blocks) => blocks.map((block) => ({ ...block, content: block.content.replaceAll(ADDRESS, "[address]") })),
};

export default { interceptors: [hideAddresses] };
