ort <- reticulate::import("onnxruntime")
session <- ort$InferenceSession("nwtco.raw.onnx")
table <- read.csv("datasets/nwtco/nwtco.csv")
feed <- list()
for (one in session$get_inputs()) {
  read <- if (one$type == "tensor(string)") as.character else as.numeric
  feed[[one$name]] <- as.array(read(table[[one$name]]))
}
survival <- session$run(NULL, feed)[[1]]
times <- jsonlite::fromJSON(session$get_modelmeta()$custom_metadata_map$times)
cat(dim(survival), sprintf("%.2f event-free at %.0f days", survival[1, ncol(survival)], max(times)), "\n")
