// SPDX-License-Identifier: Apache-2.0
// The search of the site runs in a Worker, which browsers refuse to pages of a folder. There it runs
// in a hidden frame. The bundle of the theme asks for the name of this class.
class IFrameWorker extends EventTarget {
  #inside;
  #loaded;

  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.#inside = frame.contentWindow;
    this.#inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    this.#inside.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => this.#load(each)), Promise.resolve());
    this.#loaded = this.#load(url);
  }

  #load(url) {
    return new Promise((resolve, reject) => {
      const script = this.#inside.document.createElement("script");
      script.src = new URL(url, location.href);
      script.onload = resolve;
      script.onerror = reject;
      this.#inside.document.body.append(script);
    });
  }

  postMessage(data) {
    this.#loaded.then(() => this.#inside.dispatchEvent(new this.#inside.MessageEvent("message", { data })));
  }

  terminate() {
    this.#inside.frameElement.remove();
  }
}
window.IFrameWorker = IFrameWorker;
if (location.protocol === "file:") window.Worker = IFrameWorker;
