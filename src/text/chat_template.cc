#include "text/chat_template.h"

#include "text/ffi.h"

namespace matador {

struct ChatTemplate::Impl {
  TemplateHandle handle;
  std::string source;

  // Calls `compile(out, message)` and takes what it made.
  template <class Compile>
  static Result<std::shared_ptr<const ChatTemplate>> make(Compile compile) {
    MtextTemplate* made = nullptr;
    std::string message;
    if (int32_t status = compile(&made, sink_into(message)); status != MTEXT_OK) {
      return error_of(status, std::move(message));
    }
    auto impl = std::make_unique<Impl>();
    impl->handle.reset(made);
    impl->source = view(mtext_template_source(made));
    return std::shared_ptr<const ChatTemplate>(new ChatTemplate(std::move(impl)));
  }
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::~ChatTemplate() = default;

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::compile(std::string_view source,
                                                                  std::string_view tokens_json) {
  return Impl::make([&](MtextTemplate** out, MtextTextSink message) {
    return mtext_template_compile(borrow(source), borrow(tokens_json), out, message);
  });
}

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::from_folder(const std::string& folder) {
  return Impl::make([&](MtextTemplate** out, MtextTextSink message) {
    return mtext_template_from_folder(borrow(folder), out, message);
  });
}

Result<std::string> ChatTemplate::render(const ChatTemplateInput& input) const {
  MtextTemplateInput raw = {
      .messages_json = borrow(input.messages_json),
      .tools_json = borrow(input.tools_json),
      .documents_json = borrow(input.documents_json),
      .variables_json = borrow(input.kwargs_json),
      .add_generation_prompt = input.add_generation_prompt && !input.continue_final_message,
      .continue_final_message = input.continue_final_message,
      .has_now = input.now.has_value(),
      .now = input.now.value_or(0),
  };
  std::string text;
  int32_t status = mtext_template_render(impl_->handle.get(), &raw, sink_into(text));
  if (status != MTEXT_OK) return error_of(status, std::move(text));
  return text;
}

const std::string& ChatTemplate::source() const { return impl_->source; }

bool ChatTemplate::takes_tools() const { return mtext_template_takes_tools(impl_->handle.get()); }

}  // namespace matador
