library(survival)
table <- read.csv("datasets/nwtco/nwtco.csv")
held_out <- table$seqno %% 3 == 0
times <- seq(90, 2700, by = 90)

fit <- coxph(Surv(edrel, rel) ~ age + factor(stage) + factor(study), data = table[!held_out, ])
people <- table[held_out, c("edrel", "rel", "age", "histol", "stage", "study")]
curves <- t(summary(survfit(fit, newdata = people), times = times)$surv)
colnames(curves) <- paste0("S(", times, ")")
write.csv(cbind(people, round(curves, 4)), "coxph-without-histology.csv", row.names = FALSE)
